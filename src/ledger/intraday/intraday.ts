import type { Day } from '../../market/day.ts';
import type { IntradayBar } from '../../market/intraday/bar.ts';
import type { TimeRange } from '../../market/intraday/interval.ts';
import type { Engine } from '../engine/engine.ts';
import type { DayRange, OriginSymbols } from '../prices/past.ts';
import type { TradingDay } from '../symbols/origin.ts';
import { foldMinutes, type MinuteLimits, nextTick } from './fold-minutes.ts';
import { firstStoredDays, type IntradayDetail, nextStored, readStored, type StoredDay } from './hour-bars.ts';

/**
 * Bars shorter than a day. While the ticks of a trade date exist, its minutes are folded from them, so late ticks count at
 * once. Before ticks are deleted, their minutes are stored (`ticks/tick-pruning.ts`); stored bars win from then on.
 */
export class IntradayStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** The minutes of a trade date, from its ticks. */
  fold(of: TradingDay, limits: MinuteLimits): Promise<IntradayBar[]> {
    return foldMinutes(this.#engine, of, limits);
  }

  /** The moment of the first tick of a trade date from `from` on, of either origin. */
  nextTick(of: TradingDay, from: number): Promise<number | undefined> {
    return nextTick(this.#engine, of, from, Number.MAX_SAFE_INTEGER);
  }

  /** The start of the first stored bar that ends after `from`, on a trade date from `first` on. */
  nextStored(
    symbols: OriginSymbols,
    begin: { first: Day; from: number },
    detail: IntradayDetail,
  ): Promise<number | undefined> {
    return nextStored(this.#engine, symbols, begin, detail);
  }

  /** The first trade date with stored bars of each symbol that has any. */
  firstStoredDays(symbols: OriginSymbols, detail: IntradayDetail): Promise<ReadonlyMap<number, Day>> {
    return firstStoredDays(this.#engine, symbols, detail);
  }

  /** The trade dates that have stored bars, each with those in `time`. */
  stored(
    symbols: OriginSymbols,
    days: DayRange,
    time: TimeRange,
    detail: IntradayDetail,
  ): Promise<StoredDay[]> {
    return readStored(this.#engine, symbols, days, time, detail);
  }
}
