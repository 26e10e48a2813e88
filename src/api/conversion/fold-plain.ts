import type { IntervalBar, SourcedBar } from '../../board/series/price-types.ts';
import { mean } from '../../market/analytics/mean.ts';
import { foldBars, type Interval } from '../../market/interval.ts';
import { sourceIdsOf } from '../response/json.ts';

/** Folds bars as they are. An average has at least `decimals` decimals. */
export function foldPlain(bars: readonly SourcedBar[], interval: Interval, decimals: number): IntervalBar[] {
  return foldBars(bars, interval).map(({ bars: own, ...folded }) => ({
    ...folded,
    bars: own.length,
    average: mean(
      own.map(({ close }) => close),
      decimals,
    ),
    factor: own.at(-1)!.factor,
    sourceIds: sourceIdsOf(own),
  }));
}
