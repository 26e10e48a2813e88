import type { Factor, IntervalBar, SourcedBar } from '../../board/series/price-types.ts';
import type { Day } from '../../market/day.ts';
import { type FoldedBar, foldBars, type Interval } from '../../market/interval.ts';
import type { Multiplier } from '../../market/ratio.ts';
import { sourceIdsOfAll } from '../response/json.ts';

/**
 * Folds bars and converts the results. Equal to converting every bar and then folding, with four conversions per
 * interval instead of four per bar.
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
