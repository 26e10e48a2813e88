import type { Day } from '../../market/day.ts';
import type { Interval } from '../../market/interval.ts';
import type { Columns } from '../series/bars/columns.ts';
import type { FrozenBars } from '../series/bars/frozen-bars.ts';
import type {
  IntervalBar,
  LatestPrice,
  Measure,
  PricedIntradayBar,
  SourcedBar,
} from '../series/price-types.ts';
import type { Series } from '../series/series.ts';

/** What endpoints read prices from: the market as a plan sees it now, as it saw it in the past, or in another currency. */
export interface Prices {
  /** The plan's delay. */
  readonly delayMs: number;
  /** Whether only the requested days are loaded, so that other days cannot be searched. */
  readonly isPartial: boolean;
  measure(series: Series): Measure;
  latest(series: Series): LatestPrice | undefined;
  firstDay(series: Series): Day | undefined;
  lastDay(series: Series): Day | undefined;
  /** The last bar on or before `day`, not before `earliest`. */
  barOnOrBefore(series: Series, day: Day, earliest: Day): SourcedBar | undefined;
  /** The bars from `first` to `last`, ascending. */
  bars(series: Series, first: Day, last: Day): SourcedBar[];
  /** The bars folded by interval, if that is cheaper than folding `bars`. */
  fold?(series: Series, first: Day, last: Day, interval: Interval): IntervalBar[];
  /** The range of the history that holds these bars; undefined if any of them is not settled. */
  settled?(series: Series, first: Day, last: Day): SettledRange | undefined;
  /** The intraday bars that were loaded, in order of time; only for prices that are read from the ledger. */
  intraday?(series: Series): PricedIntradayBar[];
  /** A snapshot of these series, for prices in memory. */
  freeze?(series: readonly Series[]): FrozenPrices | undefined;
}

/** A snapshot, for writing a long answer. */
export interface FrozenPrices extends Prices {
  /** The days from `first` to `last` that have a bar, ascending. Do not write to the array. */
  days(series: Series, first: Day, last: Day): Int32Array;
  /** The settled part of the history; undefined if these prices are computed from others. */
  settledHistory?(series: Series): SettledHistory | undefined;
  /** Throws if `bars` would throw for any of these days. */
  requireComplete(series: Series, first: Day, last: Day): void;
  /** A hash of the bars from `first` to `last`. */
  digest(series: Series, first: Day, last: Day): bigint;
}

/** All bars of a snapshot up to `lastDay`. Later days may have other bars. */
export interface SettledHistory {
  bars: FrozenBars;
  lastDay: Day;
}

/** Consecutive bars of a history: those at the indexes `from` ≤ i < `to`. */
export interface SettledRange {
  columns: Columns;
  from: number;
  to: number;
}
