import type { Ledger } from '../../ledger/ledger.ts';
import type { NewBar } from '../../ledger/prices/bars.ts';
import { SIMULATED } from '../../ledger/symbols/sources.ts';
import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import type { Day } from '../../market/day.ts';
import { marketOf } from '../../market/session.ts';
import { lastClosedDay } from './schedule.ts';
import { barsOf, FIRST_SIMULATED_DAY, walkOf } from './walk.ts';

/** The ledger writes this many in one transaction. */
const BARS_PER_WRITE = 2_000;

/** Called after each write with the number of complete symbols. */
export type HistoryProgress = (done: number, total: number) => void;

/** Writes missing simulated bars: the whole history of an empty ledger, or the days of a downtime. */
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
    let bars: NewBar[] = [];
    for (const [done, { symbol, from, to }] of behind.entries()) {
      for (const { day, open, high, low, close } of barsOf(walkOf(symbol), from, to)) {
        bars.push({ symbolId: symbol.id, day, open, high, low, close });
        if (bars.length < BARS_PER_WRITE) continue;
        await this.#write(bars, now);
        progress(done, behind.length);
        if (signal?.aborted) return;
        bars = [];
      }
    }
    if (bars.length > 0) await this.#write(bars, now);
    for (const { symbol, to } of behind) this.#filledTo.set(symbol.id, to);
    if (behind.length > 0) progress(behind.length, behind.length);
  }

  /** The symbols without real prices that lack the bar of a closed session. */
  async #behind(symbols: readonly LedgerSymbol[], now: number) {
    const behind: { symbol: LedgerSymbol; from: Day; to: Day }[] = [];
    for (const symbol of symbols) {
      if (symbol.real) continue;
      const to = lastClosedDay(marketOf(symbol.market), now);
      const filledTo =
        this.#filledTo.get(symbol.id) ?? (await this.#ledger.bars.lastDay(symbol.id, 'simulated'));
      const from = filledTo === undefined ? FIRST_SIMULATED_DAY : filledTo + 1;
      if (from <= to) behind.push({ symbol, from, to });
      else this.#filledTo.set(symbol.id, from - 1);
    }
    return behind;
  }

  async #write(bars: readonly NewBar[], now: number): Promise<void> {
    await this.#ledger.bars.publish(bars, { source: SIMULATED, recordedAt: now });
  }
}
