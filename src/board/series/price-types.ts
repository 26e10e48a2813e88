import type { Bar, Ohlc } from '../../market/bar.ts';
import type { Day } from '../../market/day.ts';
import type { IntradayBar } from '../../market/intraday/bar.ts';

/** What a price of a series is quoted in: `USD` per `T.oz`. */
export interface Measure {
  unit: string;
  quote: string;
}

/** What a converted price was multiplied by, and the sources of the exchange rates in it. */
export interface Factor {
  /** As decimal text. */
  text: string;
  /** Whether prices keep their value, and so all their digits. */
  isOne: boolean;
  sourceIds: readonly number[];
}

/** A bar and its source. */
export interface SourcedBar extends Bar {
  sourceId: number;
  /** Set if it was computed from several prices. */
  otherSourceIds?: readonly number[];
  /** Set if it was converted. */
  factor?: Factor;
}

/** The newest price that a view shows. `at` is the time of a tick; a bar has only its day. */
export interface LatestPrice {
  price: number;
  day: Day;
  at: number | undefined;
  sourceId: number;
  /** Set if it was computed from several prices. */
  otherSourceIds?: readonly number[];
  /** Set if it was converted. */
  factor?: Factor;
}

/** The bars of one interval, folded into one. */
export interface IntervalBar extends Ohlc {
  /** The first day of the interval, whether it has a bar or not. */
  day: Day;
  /** How many bars were folded. */
  bars: number;
  /** The mean of their closes. */
  average: number;
  /** The factor of the close, if prices were converted. */
  factor: Factor | undefined;
  /** The sources of the bars and of the exchange rates that converted them, each once. */
  sourceIds: readonly number[];
}

/** An intraday bar, and the mean of the closes of its minutes. */
export interface PricedIntradayBar extends IntradayBar {
  average: number;
  /** Set if it was converted. */
  factor?: Factor;
  sourceIds: readonly number[];
}

/** By view index, ascending: how far a view is behind the clock, in ms. That is its delay, or more after a step of the clock. */
export type ViewLags = readonly number[];
