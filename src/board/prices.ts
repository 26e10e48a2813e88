import type { Day } from '../market/day.ts';
import type { Columns, SourcedBar } from './columns.ts';
import type { Series } from './series.ts';
import type { LatestPrice } from './strand-view.ts';

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
  /** The same where they lie in the history, if they are kept there and nothing younger is among them. */
  settled?(series: Series, first: Day, last: Day): Settled | undefined;
}

/** Consecutive bars of a history: at the indices from `from` up to, and without, `to`. */
export interface Settled {
  columns: Columns;
  from: number;
  to: number;
}
