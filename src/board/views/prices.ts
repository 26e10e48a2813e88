import type { Day } from '../../market/day.ts';
import type { Interval } from '../../market/interval.ts';
import type { Columns } from '../series/columns.ts';
import type { IntervalBar, LatestPrice, Measure, SourcedBar } from '../series/price-types.ts';
import type { Series } from '../series/series.ts';

/** What an endpoint reads prices from: the market as a plan sees it now, as it saw it once, or in another currency. */
export interface Prices {
  /** The plan's delay. */
  readonly delayMs: number;
  measure(series: Series): Measure;
  latest(series: Series): LatestPrice | undefined;
  firstDay(series: Series): Day | undefined;
  lastDay(series: Series): Day | undefined;
  /** The last bar on or before `day`, not before `earliest`. */
  barOnOrBefore(series: Series, day: Day, earliest: Day): SourcedBar | undefined;
  /** The bars from `first` to `last`, ascending. */
  bars(series: Series, first: Day, last: Day): SourcedBar[];
  /** The same, folded by interval, where that is cheaper than folding `bars`. */
  fold?(series: Series, first: Day, last: Day, interval: Interval): IntervalBar[];
  /** The bars where they lie in the history, if they are kept there and nothing younger is among them. */
  settled?(series: Series, first: Day, last: Day): SettledRange | undefined;
  /** The same prices of these series, without what changes from now on. For prices in memory. */
  freeze?(series: readonly Series[]): FrozenPrices | undefined;
}

/** Prices that do not change while a long answer is written from them. */
export interface FrozenPrices extends Prices {
  /** The days from `first` to `last` that have a bar, ascending. They are not to be written to. */
  days(series: Series, first: Day, last: Day): Int32Array;
  /** Throws what `bars` would throw for any of these days. */
  requireComplete(series: Series, first: Day, last: Day): void;
  /** A hash of all that the bars from `first` to `last` are made of. */
  digest(series: Series, first: Day, last: Day): bigint;
}

/** Consecutive bars of a history: at the indices from `from` up to, and without, `to`. */
export interface SettledRange {
  columns: Columns;
  from: number;
  to: number;
}
