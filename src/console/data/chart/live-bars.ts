import type { ChartBar, Quote } from '../../api/answers.ts';
import { roundConverted } from '../units.ts';
import type { ChartSeries, History } from './history.ts';

/** The bars with the newest price, converted as the last of them is, in the last of them. */
export function withNewest(
  { bars, factor }: ChartSeries,
  interval: History['interval'],
  quote: Quote | undefined,
  isOpenEnded: boolean,
): readonly ChartBar[] {
  const last = bars.at(-1);
  if (!last || !quote || !isOpenEnded || interval !== 'day') return bars;
  const { date } = quote;
  const rate = roundConverted(quote.rate, factor);
  if (date < last.date) return bars;
  if (date > last.date) return [...bars, { date, open: rate, high: rate, low: rate, close: rate }];
  const live = { ...last, high: Math.max(last.high, rate), low: Math.min(last.low, rate), close: rate };
  return [...bars.slice(0, -1), live];
}
