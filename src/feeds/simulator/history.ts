import type { Ledger } from '../../ledger/ledger.ts';
import type { NewBar } from '../../ledger/prices/bars.ts';
import type { PublishResult } from '../../ledger/prices/publish-bars.ts';
import { SIMULATED } from '../../ledger/symbols/sources.ts';
import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import type { Bar } from '../../market/bar.ts';
import { type Day, MS_PER_DAY } from '../../market/day.ts';
import { marketOf } from '../../market/session.ts';
import { FIRST_SIMULATED_DAY } from './calendar.ts';
import { CORRECTION, firstEdition } from './revised.ts';
import { lastClosedDay, lastPublishedDay } from './schedule.ts';
import { barsOf, type Walk, walkOf } from './walk.ts';

/** The ledger writes this many in one transaction. */
const BARS_PER_WRITE = 2_000;
/** Every session has ended by midnight UTC after its trade date. */
const RECORDED_AFTER_MS = 5 * 60_000;
/** A monthly value is published on the second of the next month. */
const MONTH_DAYS = 32;

/** Called after each write with the number of complete symbols. */
export type HistoryProgress = (done: number, total: number) => void;

interface Gap {
  symbol: LedgerSymbol;
  /** Corrections of bars from here on may be missing: a process that was killed has written only some. */
  correctFrom: Day;
  from: Day;
  to: Day;
}

/**
 * Writes missing simulated bars: the whole history of an empty ledger, or the days of a downtime. Each is recorded after its
 * day, and a few are recorded with an error and corrected with the next bar, so that point-in-time requests have something to
 * show. Processes that fill the same ledger share the work: one that meets bars of another continues with other symbols.
 */
export class HistoryFiller {
  readonly #ledger: Ledger;
  /** The last day with a bar, by symbol id. */
  readonly #filledTo = new Map<number, Day>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Fills every symbol up to its last closed session. Stops between two writes if `signal` aborts. */
  async fill(
    symbols: readonly LedgerSymbol[],
    now: number,
    progress: HistoryProgress,
    signal?: AbortSignal,
  ): Promise<void> {
    const queue = symbols.filter((symbol) => !symbol.real);
    const total = queue.length;
    const filled = new Map<LedgerSymbol, Day>();
    /** Symbols that another process was writing, too. They are left once, and completed after the others. */
    const left = new Set<LedgerSymbol>();
    const [bars, corrections] = [new Batch(this.#ledger, now), new Batch(this.#ledger, now, CORRECTION)];
    for (let symbol = queue.shift(); symbol; symbol = queue.shift()) {
      const gap = await this.#findGap(symbol, now);
      if (!gap) continue;
      filled.set(symbol, gap.to);
      for (const { bar, corrected } of editionsOf(gap)) {
        if (corrected) corrections.add(corrected);
        if (bar) bars.add(bar);
        if (bars.size < BARS_PER_WRITE) continue;
        const { unchanged } = await bars.write();
        await corrections.write();
        progress(total - queue.length - 1, total);
        if (signal?.aborted) return;
        if (unchanged === 0 || left.has(symbol)) continue;
        left.add(symbol);
        filled.delete(symbol);
        this.#filledTo.delete(symbol.id); // the other process gets further
        continueElsewhere(queue, symbol);
        break;
      }
    }
    await bars.write();
    await corrections.write();
    for (const [{ id }, to] of filled) this.#filledTo.set(id, to);
    if (filled.size > 0) progress(total, total);
  }

  /** The closed sessions of which a symbol lacks the bar. Read when its turn comes: another process may have filled it. */
  async #findGap(symbol: LedgerSymbol, now: number): Promise<Gap | undefined> {
    const to = lastPublishedDay(symbol, lastClosedDay(marketOf(symbol.market), now));
    const own = this.#filledTo.get(symbol.id);
    const filledTo = own ?? (await this.#ledger.bars.lastDay(symbol.id, 'simulated'));
    const from = filledTo === undefined ? FIRST_SIMULATED_DAY : filledTo + 1;
    const correctFrom = own === undefined ? FIRST_SIMULATED_DAY : from - MONTH_DAYS;
    if (from <= to) return { symbol, from, to, correctFrom };
    this.#filledTo.set(symbol.id, from - 1);
    return undefined;
  }
}

/** Moves the first half of the queue to its end, and a symbol behind it: the other process continues with them. */
function continueElsewhere(queue: LedgerSymbol[], symbol: LedgerSymbol): void {
  queue.push(...queue.splice(0, Math.floor(queue.length / 2)), symbol);
}

interface Recorded extends NewBar {
  recordedAt: number;
}

/** What is recorded in a gap: bars as they are first published, and corrections of the bars before them. */
function* editionsOf({
  symbol,
  from,
  to,
  correctFrom,
}: Gap): Generator<{ bar?: Recorded; corrected?: Recorded }> {
  const walk = walkOf(symbol);
  let correction: Bar | undefined; // of the day before, whose first edition was wrong
  for (const bar of barsOf(walk, correctFrom, to)) {
    const recordedAt = recordingTime(walk, bar.day);
    if (correction) yield { corrected: { symbolId: symbol.id, ...correction, recordedAt } };
    const first = firstEdition(walk, bar);
    if (bar.day >= from) yield { bar: { symbolId: symbol.id, ...(first ?? bar), recordedAt } };
    correction = first && bar;
  }
}

function recordingTime({ interval }: Walk, day: Day): number {
  return (day + (interval === 'month' ? MONTH_DAYS : 1)) * MS_PER_DAY + RECORDED_AFTER_MS;
}

/** Bars that are written together. */
class Batch {
  readonly #ledger: Ledger;
  readonly #now: number;
  readonly #correction: string | undefined;
  #bars: Recorded[] = [];

  /** With the reason of a correction, bars replace those of their days; without it, only missing days are written. */
  constructor(ledger: Ledger, now: number, correction?: string) {
    this.#ledger = ledger;
    this.#now = now;
    this.#correction = correction;
  }

  get size(): number {
    return this.#bars.length;
  }

  add(bar: Recorded): void {
    this.#bars.push(bar);
  }

  async write(): Promise<PublishResult> {
    const bars = this.#bars;
    this.#bars = [];
    return this.#ledger.bars.publish(bars, {
      source: SIMULATED,
      recordedAt: (bar) => Math.min((bar as Recorded).recordedAt, this.#now),
      ...(this.#correction === undefined ? { comparedWith: 'any' } : { reason: this.#correction }),
    });
  }
}
