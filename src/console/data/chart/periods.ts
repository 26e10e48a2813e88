import type { ChartBar, OhlcRecord } from '../../api/answers.ts';
import type { DaySpan } from './span.ts';

/** Consecutive bars as one, with the dates of the first and the last of them. */
export interface BarPeriod extends DaySpan, OhlcRecord {}

/** Bars as at most this many periods, all but the last with the same number of bars. */
export function periodsOf(bars: readonly ChartBar[], periodsMax: number): BarPeriod[] {
  const length = Math.ceil(bars.length / periodsMax);
  const periods: BarPeriod[] = [];
  for (let i = 0; i < bars.length; i += length) periods.push(periodOf(bars.slice(i, i + length)));
  return periods;
}

function periodOf(bars: readonly ChartBar[]): BarPeriod {
  const [first, last] = [bars[0]!, bars.at(-1)!];
  return {
    first: first.date,
    last: last.date,
    open: first.open,
    high: Math.max(...bars.map(({ high }) => high)),
    low: Math.min(...bars.map(({ low }) => low)),
    close: last.close,
  };
}
