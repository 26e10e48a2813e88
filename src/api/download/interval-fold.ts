import type { Factor, IntervalBar, Prices } from '../../board/prices.ts';
import type { SourcedBar } from '../../board/series/columns.ts';
import type { Series } from '../../board/series/series.ts';
import type { Day } from '../../market/day.ts';
import { type FoldedBar, foldBars, type Interval } from '../../market/interval.ts';
import type { Multiplier } from '../../market/ratio.ts';
import { sourceIdsOfAll } from '../response/json.ts';

/** The bars of a series from `first` to `last`, folded by interval. */
export function foldSeries(
  prices: Prices,
  series: Series,
  first: Day,
  last: Day,
  interval: Interval,
): IntervalBar[] {
  if (prices.fold) return prices.fold(series, first, last, interval);
  return foldBars(prices.bars(series, first, last), interval).map(({ bars, ...folded }) => ({
    ...folded,
    bars: bars.length,
    factor: bars.at(-1)!.factor,
    sourceIds: sourceIdsOfAll(bars),
  }));
}

/**
 * Folds bars and converts the result: as converting every bar and folding, with four conversions for each interval
 * instead of four for each bar.
 */
export function foldConverted(
  bars: readonly SourcedBar[],
  factorOn: (day: Day) => Multiplier & Factor,
  interval: Interval,
): IntervalBar[] {
  return foldBars(bars, interval).map((folded) => convertFolded(folded, factorOn));
}

function convertFolded(
  { day, bars }: FoldedBar<SourcedBar>,
  factorOn: (day: Day) => Multiplier & Factor,
): IntervalBar {
  const factors = bars.map((bar) => factorOn(bar.day));
  const last = factors.length - 1;
  return {
    day,
    open: factors[0]!.apply(bars[0]!.open),
    high: extreme(bars, factors, 'high'),
    low: extreme(bars, factors, 'low'),
    close: factors[last]!.apply(bars[last]!.close),
    bars: bars.length,
    factor: factors[last],
    sourceIds: sourceIdsOfAll(bars, factors),
  };
}

/** Results have 8 digits, so rounding moves a number by at most half of this share of it. */
const ROUNDING = 2e-7;

/**
 * The highest converted high, or the lowest converted low. Each day has its own factor, so the highest price need not
 * become the highest result. Estimates find the few that can.
 */
function extreme(bars: readonly SourcedBar[], factors: readonly Multiplier[], which: 'high' | 'low'): number {
  const sign = which === 'high' ? 1 : -1;
  let top = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < bars.length; i++) {
    const estimate = sign * factors[i]!.estimate(bars[i]![which]);
    if (estimate > top) top = estimate;
  }
  const least = top - Math.abs(top) * ROUNDING;
  let best = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < bars.length; i++) {
    const price = bars[i]![which];
    const isOut = sign * factors[i]!.estimate(price) < least; // false for an estimate that is not a number
    if (!isOut) best = Math.max(best, sign * factors[i]!.apply(price));
  }
  return sign * best;
}
