import { useEffect, useReducer } from 'preact/hooks';
import type { MarketAnswer, MarketSymbol, Quote, QuotesAnswer } from '../api/answers.ts';
import { askWithKey, clientOf, isOutage, messageOf, OpenpitError } from '../api/client.ts';
import type { Searchable } from '../search/match.ts';
import { formulaSymbol, isFormula } from './formula.ts';

/** What is shown of one symbol. */
export interface MarketRow {
  quote: Quote;
  /** The closes of the last days, oldest first, without the quote's own day. */
  closes: readonly number[];
  /** The direction of the last change; reset to 0 shortly after. */
  direction: -1 | 0 | 1;
}

export type LiveState = 'connecting' | 'live' | 'lost' | { refused: string };

/** As often as the service renews its quotes. */
const POLL_MS = 5_000;

/** After a refusal, such as a used-up quota. */
const POLL_REFUSED_MS = 30_000;

/** Prices that moved in a longer pause are missing in the last bar of a chart, or were in bars of their own. */
const PAUSE_MS = 10 * 60_000;

const VISIT = 'openpit.visit';

/** For how long a price that moved is coloured. */
const HIGHLIGHT_MS = 900;

/**
 * The market of one key. It is loaded once, for one unit, which also pays for its newer quotes. All pages share it, so going
 * from one to another costs nothing and shows at once what is known.
 */
class MarketStore {
  symbols: readonly MarketSymbol[] | undefined;
  /** For the search; empty until the market is loaded. */
  searchable: Searchable = { symbols: [], formulas: [], aliases: {}, isComplete: false };
  state: LiveState = 'connecting';
  error: unknown;
  /** When quotes were last read without a pause before, in ms: what was loaded earlier is incomplete. */
  unbrokenSince = Date.now();
  #answeredAt = Date.now();
  readonly #key: string;
  readonly #rows = new Map<string, MarketRow>();
  readonly #watchers = new Map<string, Set<() => void>>();
  readonly #subscribers = new Set<() => void>();
  /** Whether somebody shows the closes, and whether they are loaded. They are most of the view. */
  #wantsCloses = false;
  #hasCloses = false;
  /** The symbols that are needed as long as not all are. */
  #wanted: ReadonlySet<string> | 'all' = new Set();
  #loaded: ReadonlySet<string> | 'all' = new Set();
  /** Proves to the service that the view is paid for. It is kept, so that a reload is free. */
  #visit: string;
  /** The codes that were looked for. */
  readonly #missing = new Set<string>();
  #polling: ReturnType<typeof setTimeout> | undefined;
  #highlightTimer: ReturnType<typeof setTimeout> | undefined;
  #isAsking = false;

  constructor(key: string) {
    this.#key = key;
    this.#visit = sessionStorage.getItem(VISIT) ?? '';
  }

  /** Call this before `subscribe`. */
  requireCloses(): void {
    this.#wantsCloses = true;
    this.#wanted = 'all';
  }

  /** The same for some symbols: a page about one of them needs no others, but those that are loaded stay. */
  require(codes: readonly string[]): void {
    if (this.#wanted === 'all') return;
    const wanted = new Set([...this.#loaded, ...codes]);
    if (wanted.symmetricDifference(this.#wanted).size === 0) return;
    this.#wanted = wanted;
    this.error = undefined; // it was about other symbols
  }

  /** The same for all symbols without closes. */
  requireAll(): void {
    this.#wanted = 'all';
  }

  /** Loads all symbols, for the search. */
  readonly loadAll = (): void => {
    if (this.#wanted === 'all') return;
    this.requireAll();
    this.refresh();
  };

  /** Loads the whole market again, once for each code that it lacks: the code may be new. */
  lookFor(code: string): void {
    if (this.#missing.has(code)) return;
    this.#missing.add(code);
    this.#loaded = new Set();
    this.searchable = { ...this.searchable, isComplete: false };
    this.refresh();
  }

  /** The symbol of a code, a ticker or a formula. */
  find(code: string): MarketSymbol | undefined {
    const { symbols, formulas, aliases } = this.searchable;
    if (isFormula(code)) return formulaSymbol(code, symbols);
    return [...symbols, ...formulas].find(({ symbol }) => symbol === code || symbol === aliases[code]);
  }

  row(code: string): MarketRow | undefined {
    return this.#rows.get(code);
  }

  /** Calls back when the list of symbols or the state changes. The market is kept up to date while somebody listens. */
  subscribe(listener: () => void): () => void {
    this.#subscribers.add(listener);
    if (this.#subscribers.size === 1) {
      document.addEventListener('visibilitychange', this.refresh);
      this.refresh();
    }
    return () => {
      this.#subscribers.delete(listener);
      if (this.#subscribers.size > 0) return;
      document.removeEventListener('visibilitychange', this.refresh);
      clearTimeout(this.#polling);
    };
  }

  /** Calls back when the row of a symbol changes. */
  watch(code: string, onChange: () => void): () => void {
    const watchers = this.#watchers.get(code) ?? new Set();
    this.#watchers.set(code, watchers);
    watchers.add(onChange);
    return () => {
      watchers.delete(onChange);
    };
  }

  /** Asks for newer prices now. A hidden tab asks for none. */
  readonly refresh = (): void => {
    clearTimeout(this.#polling);
    if (document.hidden || this.#isAsking) return;
    this.#isAsking = true;
    void this.#ask().then((waitMs) => {
      this.#isAsking = false;
      for (const listener of this.#subscribers) listener();
      if (this.#subscribers.size > 0) this.#polling = setTimeout(this.refresh, waitMs);
    });
  };

  /** Returns how long to wait before the next time. */
  async #ask(): Promise<number> {
    const wanted = this.#wanted;
    try {
      if (this.#visit === '' || !this.#hasWanted) await this.#load();
      else await this.#loadQuotes();
      this.state = 'live';
      this.error = undefined;
      this.#noticePause(Date.now());
      return this.#hasWanted ? POLL_MS : 0; // more may have been required meanwhile
    } catch (error) {
      if (error instanceof OpenpitError && error.code === 'invalid_visit') {
        this.#setVisit('');
        return 0;
      }
      if (wanted !== this.#wanted) return 0;
      this.error = error;
      this.state = isOutage(error) ? 'lost' : { refused: messageOf(error) };
      return isOutage(error) ? POLL_MS : POLL_REFUSED_MS;
    }
  }

  /** After a hidden tab, a sleeping machine or an outage. */
  #noticePause(now: number): void {
    if (now - this.#answeredAt > PAUSE_MS) this.unbrokenSince = now - PAUSE_MS;
    this.#answeredAt = now;
  }

  get #hasWanted(): boolean {
    if (this.#wantsCloses !== this.#hasCloses) return false;
    if (this.#loaded === 'all') return true;
    return this.#wanted !== 'all' && this.#loaded.size > 0 && this.#wanted.isSubsetOf(this.#loaded);
  }

  #setVisit(visit: string): void {
    this.#visit = visit;
    sessionStorage.setItem(VISIT, visit);
  }

  async #load(): Promise<void> {
    const query = new URLSearchParams();
    if (this.#visit !== '') query.set('visit', this.#visit);
    if (!this.#wantsCloses) query.set('closes', 'false');
    const wanted = this.#loaded === 'all' ? 'all' : this.#wanted;
    if (wanted !== 'all') query.set('symbols', [...wanted].join(','));
    const response = await clientOf(this.#key).request(`/market?${query}`);
    const body = (await response.json()) as MarketAnswer;
    this.#setVisit(response.headers.get('openpit-visit') ?? this.#visit);
    this.#hasCloses = query.get('closes') === null;
    this.#loaded = wanted;
    this.#setSymbols({
      symbols: body.symbols.map(({ quote: _, closes: __, ...symbol }) => symbol),
      formulas: body.formulas,
      aliases: body.aliases,
    });
    for (const { symbol, quote, closes = [] } of body.symbols) {
      if (quote) this.#set(symbol, { quote, closes, direction: 0 });
    }
  }

  async #loadQuotes(): Promise<void> {
    const query = new URLSearchParams({ visit: this.#visit });
    if (this.#loaded !== 'all') query.set('symbols', [...this.#loaded].join(','));
    const { quotes } = await askWithKey<QuotesAnswer>(this.#key, `/market/quotes?${query}`);
    let hasNew = false;
    for (const [code, quote] of Object.entries(quotes)) {
      hasNew ||= !this.#rows.has(code);
      this.#update(code, quote);
    }
    if (!hasNew) return;
    this.#setSymbols({
      ...this.searchable,
      symbols: this.searchable.symbols.map((symbol) => withFirstPrice(symbol, quotes[symbol.symbol])),
    });
  }

  #setSymbols(market: Omit<Searchable, 'isComplete'>): void {
    this.symbols = market.symbols;
    this.searchable = { ...market, isComplete: this.#loaded === 'all' };
  }

  #update(code: string, quote: Quote): void {
    const known = this.#rows.get(code);
    const closes = known?.closes ?? [];
    if (!known || known.quote.date !== quote.date) {
      this.#set(code, {
        quote,
        closes: quote.before ? [...closes, quote.before.close] : closes,
        direction: 0,
      });
      return;
    }
    if (JSON.stringify(known.quote) === JSON.stringify(quote)) return;
    const direction = Math.sign(quote.rate - known.quote.rate) as MarketRow['direction'];
    this.#set(code, { quote, closes, direction });
    if (direction !== 0) this.#endHighlightLater();
  }

  /** Sets and removes a color, which renders twice; an animation would render every row sixty times a second. */
  #endHighlightLater(): void {
    this.#highlightTimer ??= setTimeout(() => {
      this.#highlightTimer = undefined;
      for (const [code, row] of this.#rows) {
        if (row.direction !== 0) this.#set(code, { ...row, direction: 0 });
      }
    }, HIGHLIGHT_MS);
  }

  #set(code: string, row: MarketRow): void {
    this.#rows.set(code, row);
    for (const onChange of this.#watchers.get(code) ?? []) onChange();
  }
}

export type { MarketStore };

let newest: { key: string; store: MarketStore } | undefined;

function marketOf(key: string): MarketStore {
  if (newest?.key !== key) newest = { key, store: new MarketStore(key) };
  return newest.store;
}

/**
 * The market of a key: with recent closes, or only the symbols that are named. Re-renders when the list of symbols or the state
 * changes.
 */
export function useMarket(
  key: string,
  needs: 'with closes' | 'all symbols' | readonly string[],
): MarketStore {
  const store = marketOf(key);
  if (needs === 'with closes') store.requireCloses();
  else if (needs === 'all symbols') store.requireAll();
  else store.require(needs);
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  useEffect(() => store.subscribe(() => redraw(undefined)), [store]);
  useEffect(store.refresh, [store, String(needs)]);
  return store;
}

/** The row of a symbol; re-renders when it changes. */
export function useMarketRow(store: MarketStore, code: string): MarketRow | undefined {
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  useEffect(() => store.watch(code, () => redraw(undefined)), [store, code]);
  return store.row(code);
}

/** The change since the close before, if there is one. */
export function changeOf({ rate, before }: Pick<Quote, 'rate' | 'before'>) {
  if (!before || before.close === 0) return undefined;
  const absolute = rate - before.close;
  return { absolute, percent: (absolute / Math.abs(before.close)) * 100 };
}

function withFirstPrice(symbol: MarketSymbol, quote: Quote | undefined): MarketSymbol {
  if (symbol.lastDate !== null || !quote) return symbol;
  return { ...symbol, firstDate: quote.before?.date ?? quote.date, lastDate: quote.date };
}
