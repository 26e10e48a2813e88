import type { Measure } from '../../board/series/price-types.ts';
import type { Series } from '../../board/series/series.ts';
import type { Ratio } from '../../market/ratio.ts';

/** A symbol as it was asked for. The answer uses this code, also where it is an alias. */
export interface RequestedSymbol {
  code: string;
  series: Series;
}

/** How the prices of one series are converted. */
export interface SeriesConversion extends Measure {
  /** What holds on every day: the unit, and cents to dollars. */
  constant: Ratio;
  /** The exchange, where there is one: divided by the one rate and multiplied by the other. The euro itself has none. */
  from: Series | undefined;
  to: Series | undefined;
}

/** What `quote` and `unit` ask for. */
export interface Conversion {
  of: ReadonlyMap<Series, SeriesConversion>;
  /** The exchange rates that it needs. */
  rates: readonly Series[];
}

/** The point in time of a request: what was recorded after it is not visible. */
export interface AsOf {
  /** In ms. For today it is the end of the day, which is in the future. */
  moment: number;
}

/** What an endpoint has understood of a request. */
export interface PriceQuery {
  /** All that must be in memory to answer it. */
  series: readonly Series[];
  /** Those whose newest price is part of the tag while the answer can change: the tag then never comes back. */
  tagged?: readonly Series[];
  /** In which currency and unit. */
  conversion?: Conversion | undefined;
  /** As of when. */
  asOf?: AsOf | undefined;
}
