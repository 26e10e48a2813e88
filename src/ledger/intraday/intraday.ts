import type { IntradayBar } from '../../market/intraday/bar.ts';
import type { TimeRange } from '../../market/intraday/interval.ts';
import type { Engine } from '../engine/engine.ts';
import type { DayRange, OriginSymbols } from '../prices/past.ts';
import type { TradingDay } from '../symbols/origin.ts';
import { foldMinutes, type MinuteLimits } from './fold-minutes.ts';
import { type IntradayDetail, readStored, type StoredDay } from './hour-bars.ts';

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
