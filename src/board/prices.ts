import type { Ohlc } from '../market/bar.ts';
import type { Day } from '../market/day.ts';
import type { Interval } from '../market/interval.ts';
import type { Columns, SourcedBar } from './series/columns.ts';
import type { LatestPrice } from './series/delayed-view.ts';
import type { Series } from './series/series.ts';

/** What a number of a series is: `USD` per `T.oz`. */
export interface Measure {
  unit: string;
  quote: string;
}

/** What a converted number was multiplied by, and where the exchange rates in it come from. */
export interface Factor {
  /** As decimal text. */
  text: string;
  sourceIds: readonly number[];
}

/** The bars of one interval, folded to one. */
export interface IntervalBar extends Ohlc {
  /** The first day of the interval, whether it has a bar or not. */
  day: Day;
  /** How many bars were folded. */
  bars: number;
  /** That of the close, where prices were converted. */
  factor: Factor | undefined;
  /** Of the bars, and of the exchange rates that converted them, each once. */
  sourceIds: readonly number[];
}

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
