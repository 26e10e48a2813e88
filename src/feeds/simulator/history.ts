import type { Ledger } from '../../ledger/ledger.ts';
import type { NewBar } from '../../ledger/prices/bars.ts';
import { SIMULATED } from '../../ledger/symbols/sources.ts';
import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import type { Bar } from '../../market/bar.ts';
import { type Day, MS_PER_DAY } from '../../market/day.ts';
import { marketOf } from '../../market/session.ts';
import { FIRST_SIMULATED_DAY } from './factors.ts';
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
 * show.
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
    const behind = await this.#behind(symbols, now);
    const [bars, corrections] = [new Batch(this.#ledger, now), new Batch(this.#ledger, now, CORRECTION)];
    for (const [done, gap] of behind.entries()) {
      for (const { bar, corrected } of editionsOf(gap)) {
        if (corrected) corrections.add(corrected);
        if (!bar || !(await bars.addAndWrite(bar))) continue;
        await corrections.write();
        progress(done, behind.length);
        if (signal?.aborted) return;
      }
    }
    await bars.write();
    await corrections.write();
    for (const { symbol, to } of behind) this.#filledTo.set(symbol.id, to);
    if (behind.length > 0) progress(behind.length, behind.length);
  }

  /** The symbols without real prices that lack the bar of a closed session. */
  async #behind(symbols: readonly LedgerSymbol[], now: number): Promise<Gap[]> {
    const behind: Gap[] = [];
    for (const symbol of symbols) {
      if (symbol.real) continue;
      const to = lastPublishedDay(symbol, lastClosedDay(marketOf(symbol.market), now));
      const own = this.#filledTo.get(symbol.id);
      const filledTo = own ?? (await this.#ledger.bars.lastDay(symbol.id, 'simulated'));
      const from = filledTo === undefined ? FIRST_SIMULATED_DAY : filledTo + 1;
      const correctFrom = own === undefined ? FIRST_SIMULATED_DAY : from - MONTH_DAYS;
      if (from <= to) behind.push({ symbol, from, to, correctFrom });
      else this.#filledTo.set(symbol.id, from - 1);
    }
    return behind;
  }
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
  let wrong: Bar | undefined;
  for (const bar of barsOf(walk, correctFrom, to)) {
    const recordedAt = recordingTime(walk, bar.day);
    if (wrong) yield { corrected: { symbolId: symbol.id, ...wrong, recordedAt } };
    const first = firstEdition(walk, bar);
    if (bar.day >= from) yield { bar: { symbolId: symbol.id, ...(first ?? bar), recordedAt } };
    wrong = first && bar;
  }
}

function recordingTime({ interval }: Walk, day: Day): number {
  return (day + (interval === 'month' ? MONTH_DAYS : 1)) * MS_PER_DAY + RECORDED_AFTER_MS;
}

/** Bars that are written together. */
class Batch {
  readonly #ledger: Ledger;
  readonly #now: number;
  readonly #reason: string | undefined;
  #bars: Recorded[] = [];

  constructor(ledger: Ledger, now: number, reason?: string) {
    this.#ledger = ledger;
    this.#now = now;
    this.#reason = reason;
  }

  add(bar: Recorded): void {
    this.#bars.push(bar);
  }

  /** Writes a full batch. Returns whether it did. */
  async addAndWrite(bar: Recorded): Promise<boolean> {
    this.add(bar);
    if (this.#bars.length < BARS_PER_WRITE) return false;
    await this.write();
    return true;
  }

  async write(): Promise<void> {
    if (this.#bars.length === 0) return;
    await this.#ledger.bars.publish(this.#bars, {
      source: SIMULATED,
      recordedAt: (bar) => Math.min((bar as Recorded).recordedAt, this.#now),
      ...(this.#reason !== undefined && { reason: this.#reason }),
    });
    this.#bars = [];
  }
}
