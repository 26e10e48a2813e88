import type { LatestAnswer, MarketSymbol, PlanRecord, Rate, SeriesAnswer } from '../api/answers.ts';
import { askWithKey } from '../api/client.ts';
import { listen } from '../api/events.ts';
import { addDays, spans, today } from './days.ts';
import { barsOf } from './history.ts';

/** What is known of one symbol now. */
export interface Quote {
  rate: number;
  /** The trade date of the rate. */
  date: string;
  at: string;
  source: string;
  /** The closes of the last days, oldest first, without the rate's own day. */
  closes: { date: string; close: number }[];
  /** The direction of the last change; reset to 0 shortly after. */
  direction: -1 | 0 | 1;
}

export type LiveState = 'connecting' | 'live' | 'lost' | { ended: string };

/** A month of days. Monthly values need some months to have a change at all. */
const SPAN_DAYS = 30;
const MONTHLY_SPANS = 5;

/** Rows that become visible together share requests. */
const GATHER_MS = 60;

/** Prices change many times a second; the page re-renders at most four times a second. */
const DRAW_MS = 250;

/** For how long a price that moved is coloured. */
const CALM_MS = 900;

/** Subscriptions change only after scrolling has stopped. */
const SETTLE_MS = 1_500;

/**
 * The visible part of the market. Rows register when they become visible; their prices are then loaded, in as few
 * requests as the plan allows, and subscribed to.
 */
export class MarketStore {
  readonly #key: string;
  readonly #plan: PlanRecord;
  #symbols: ReadonlyMap<string, MarketSymbol>;
  readonly #quotes = new Map<string, Quote>();
  readonly #watchers = new Map<string, Set<() => void>>();
  readonly #wanted = new Set<string>();
  readonly #asked = new Set<string>();
  readonly #changed = new Set<string>();
  readonly #stopping = new AbortController();
  #gathering: ReturnType<typeof setTimeout> | undefined;
  #drawing: ReturnType<typeof setTimeout> | undefined;
  #settling: ReturnType<typeof setTimeout> | undefined;
  #calming: ReturnType<typeof setTimeout> | undefined;
  #unlisten: (() => void) | undefined;
  #listened = '';
  onState: (state: LiveState) => void = () => {};
  onError: (error: unknown) => void = () => {};

  constructor(key: string, plan: PlanRecord, symbols: readonly MarketSymbol[]) {
    this.#key = key;
    this.#plan = plan;
    this.#symbols = new Map(symbols.map((one) => [one.symbol, one]));
    document.addEventListener('visibilitychange', this.#onVisibility);
  }

  quote(code: string): Quote | undefined {
    return this.#quotes.get(code);
  }

  /** Registers a visible symbol and calls back when its quote changes, until the returned function is called. */
  watch(code: string, onChange: () => void): () => void {
    const watchers = this.#watchers.get(code) ?? new Set();
    this.#watchers.set(code, watchers);
    watchers.add(onChange);
    this.#want(code);
    this.#settleSoon();
    onChange(); // it may have changed meanwhile
    return () => {
      watchers.delete(onChange);
      if (watchers.size === 0) this.#watchers.delete(code);
    };
  }

  /** Applies a newer list: a symbol may have received its first price. */
  learn(symbols: readonly MarketSymbol[]): void {
    this.#symbols = new Map(symbols.map((one) => [one.symbol, one]));
    for (const code of this.#watchers.keys()) this.#want(code);
    this.#settleSoon();
  }

  close(): void {
    document.removeEventListener('visibilitychange', this.#onVisibility);
    this.#stopping.abort();
    this.#unlisten?.();
    for (const timer of [this.#gathering, this.#drawing, this.#settling, this.#calming]) clearTimeout(timer);
  }

  /** A hidden tab neither holds a connection nor spends quota. */
  readonly #onVisibility = () => {
    if (!document.hidden) return this.#settleSoon();
    this.#unlisten?.();
    this.#unlisten = undefined;
    this.#listened = '';
  };

  #want(code: string): void {
    if (!this.#symbols.get(code)?.lastDate || this.#asked.has(code)) return;
    this.#wanted.add(code);
    this.#gathering ??= setTimeout(() => void this.#gather(), GATHER_MS);
  }

  async #gather(): Promise<void> {
    this.#gathering = undefined;
    const codes = [...this.#wanted];
    this.#wanted.clear();
    for (const code of codes) this.#asked.add(code);
    const monthly = codes.filter((code) => this.#symbols.get(code)?.updateInterval === 'month');
    const others = codes.filter((code) => !monthly.includes(code));
    try {
      await Promise.all([
        ...chunks(others, this.#plan.maxSymbols).map((some) => this.#load(some, 1)),
        ...chunks(monthly, this.#plan.maxSymbols).map((some) => this.#load(some, MONTHLY_SPANS)),
      ]);
    } catch (error) {
      for (const code of codes) if (!this.#quotes.has(code)) this.#asked.delete(code);
      if (!this.#stopping.signal.aborted) this.onError(error);
    }
  }

  async #load(codes: readonly string[], count: number): Promise<void> {
    const { signal } = this.#stopping;
    const span = Math.max(1, Math.min(SPAN_DAYS, this.#plan.maxSpanDays));
    const last = addDays(today(), 1);
    const parts = spans(addDays(last, -(span + 1) * count + 1), last, span);
    const symbols = codes.join(',');
    const answers = await Promise.all(
      parts.map(([startDate, endDate]) => {
        const query = new URLSearchParams({ symbols, startDate, endDate });
        return askWithKey<SeriesAnswer>(this.#key, `/rates/time-series?${query}`, { signal });
      }),
    );
    const source = answers.at(-1)?.metadata ?? {};
    const without: string[] = [];
    for (const code of codes) {
      const bars = answers.flatMap(({ rates }) => barsOf(rates, code));
      const newest = bars.pop();
      if (!newest) {
        without.push(code);
        continue;
      }
      const closes = bars.map(({ date, close }) => ({ date, close }));
      const known = { rate: newest.close, date: newest.date, at: newest.date };
      this.#set(code, { ...known, source: source[code]?.source ?? '', closes, direction: 0 });
    }
    if (without.length > 0) await this.#loadLatest(without);
  }

  /** Prices older than the requested days. */
  async #loadLatest(codes: readonly string[]): Promise<void> {
    const path = `/rates/latest?${new URLSearchParams({ symbols: codes.join(',') })}`;
    const { rates, metadata } = await askWithKey<LatestAnswer>(this.#key, path, {
      signal: this.#stopping.signal,
    });
    for (const code of codes) {
      const { at = '', source = '' } = metadata?.[code] ?? {};
      const date = at.slice(0, 10);
      this.#set(code, { rate: rates[code]!, date, at, source, closes: [], direction: 0 });
    }
  }

  #settleSoon(): void {
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => this.#listen(), this.#listened === '' ? GATHER_MS * 2 : SETTLE_MS);
  }

  /** One connection: for all symbols if the plan allows it, else for the visible ones. */
  #listen(): void {
    if (document.hidden || this.#stopping.signal.aborted) return;
    const live = [...this.#symbols.values()].filter((one) => one.lastDate).map((one) => one.symbol);
    const inView = live.filter((code) => this.#watchers.has(code));
    const codes = live.length <= this.#plan.maxSymbols ? live : inView.slice(0, this.#plan.maxSymbols);
    const symbols = codes.join(',');
    if (codes.length === 0 || symbols === this.#listened) return;
    this.#unlisten?.();
    this.#listened = symbols;
    this.onState('connecting');
    const path = `/rates/stream?${new URLSearchParams({ symbols })}`;
    this.#unlisten = listen(
      path,
      { 'x-api-key': this.#key },
      {
        onState: (state) => this.onState(state),
        onEnd: (_, message) => this.onState({ ended: message }),
        onEvent: (event, data) => this.#take(event, data),
      },
    );
  }

  #take(event: string, data: string): void {
    if (event !== 'rate') return;
    const { symbol, rate, date, at, source } = JSON.parse(data) as Rate;
    const before = this.#quotes.get(symbol);
    if (!before) {
      this.#set(symbol, { rate, date, at, source, closes: [], direction: 0 });
      return;
    }
    const closes =
      date > before.date ? [...before.closes, { date: before.date, close: before.rate }] : before.closes;
    const direction = rate > before.rate ? 1 : rate < before.rate ? -1 : 0;
    this.#set(symbol, { rate, date, at, source, closes, direction });
    if (direction !== 0) this.#calmSoon();
  }

  /** Sets and removes a color, which renders twice; an animation would render every row sixty times a second. */
  #calmSoon(): void {
    this.#calming ??= setTimeout(() => {
      this.#calming = undefined;
      for (const [code, quote] of this.#quotes) {
        if (quote.direction !== 0) this.#set(code, { ...quote, direction: 0 });
      }
    }, CALM_MS);
  }

  #set(code: string, quote: Quote): void {
    this.#quotes.set(code, quote);
    this.#changed.add(code);
    this.#drawing ??= setTimeout(() => {
      this.#drawing = undefined;
      const changed = [...this.#changed];
      this.#changed.clear();
      for (const one of changed) for (const onChange of this.#watchers.get(one) ?? []) onChange();
    }, DRAW_MS);
  }
}

/** The change since the close before, if there is one. */
export function changeOf({ rate, closes }: Quote): { absolute: number; percent: number } | undefined {
  const before = closes.at(-1)?.close;
  if (before === undefined || before === 0) return undefined;
  return { absolute: rate - before, percent: ((rate - before) / Math.abs(before)) * 100 };
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  const found: T[][] = [];
  for (let i = 0; i < items.length; i += size) found.push(items.slice(i, i + size));
  return found;
}
