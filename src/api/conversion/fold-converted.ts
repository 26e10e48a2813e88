import type { Factor, IntervalBar, SourcedBar } from '../../board/series/price-types.ts';
import { mean, meanTo } from '../../market/analytics/mean.ts';
import type { Day } from '../../market/day.ts';
import { type FoldedBar, foldBars, type Interval } from '../../market/interval.ts';
import { CONVERTED_DIGITS, type Multiplier } from '../../market/ratio.ts';
import { sourceIdsOf } from '../response/json.ts';

/**
 * Folds bars and converts the results. Equal to converting every bar and then folding, with few
 * conversions of opens, highs and lows.
 */
export function foldConverted(
  bars: readonly SourcedBar[],
  factorOn: (day: Day) => Multiplier & Factor,
  interval: Interval,
  decimals: number,
): IntervalBar[] {
  return foldBars(bars, interval).map((folded) => convertFolded(folded, factorOn, decimals));
}

function convertFolded(
  { day, bars }: FoldedBar<SourcedBar>,
  factorOn: (day: Day) => Multiplier & Factor,
  decimals: number,
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
    average: averageOf(bars, factors, decimals),
    factor: factors[last],
    sourceIds: sourceIdsOf(bars, factors),
  };
}

/** The mean of the converted closes, with as many digits as they have. */
function averageOf(bars: readonly SourcedBar[], factors: readonly Multiplier[], decimals: number): number {
  const closes = bars.map(({ close }, i) => factors[i]!.apply(close));
  const isUnchanged = factors.every(({ isOne }) => isOne);
  return isUnchanged || closes.length === 1 ? mean(closes, decimals) : meanTo(closes, CONVERTED_DIGITS);
}

/** Results have 8 significant digits, so rounding changes a number by at most half this fraction of it. */
const ROUNDING = 2e-7;

/**
 * The highest converted high, or the lowest converted low. Each day has its own factor, so the highest price is not
 * always the highest result. Cheap estimates select the few candidates that are converted exactly.
 */
function extreme(bars: readonly SourcedBar[], factors: readonly Multiplier[], which: 'high' | 'low'): number {
  const sign = which === 'high' ? 1 : -1;
  let top = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < bars.length; i++) {
    const estimate = sign * factors[i]!.estimate(bars[i]![which]);
    if (estimate > top) top = estimate;
  }
  const threshold = top - Math.abs(top) * ROUNDING;
  let best = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < bars.length; i++) {
    const price = bars[i]![which];
    const isExcluded = sign * factors[i]!.estimate(price) < threshold; // false if the estimate is NaN
    if (!isExcluded) best = Math.max(best, sign * factors[i]!.apply(price));
  }
  return sign * best;
}
