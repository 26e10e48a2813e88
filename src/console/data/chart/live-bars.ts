import type { ChartBar, Quote } from '../../api/answers.ts';
import { roundConverted } from '../units.ts';
import type { ChartSeries, History } from './history.ts';
import { isInstant, isIntraday, startOfBar } from './intraday.ts';
import { startOfInterval } from './span.ts';

/** The bars with the newest price, converted as the last of them is, in the last of them or in a new one. */
export function withNewest(
  { bars, factor }: ChartSeries,
  interval: History['interval'],
  quote: Quote | undefined,
  isOpenEnded: boolean,
): readonly ChartBar[] {
  const last = bars.at(-1);
  const date = quote && dateOf(quote, interval);
  if (!last || !date || !isOpenEnded) return bars;
  const rate = roundConverted(quote.rate, factor);
  if (date < last.date) return bars;
  if (date > last.date) return [...bars, { date, open: rate, high: rate, low: rate, close: rate }];
  const live = { ...last, high: Math.max(last.high, rate), low: Math.min(last.low, rate), close: rate };
  return [...bars.slice(0, -1), live];
}

/** The date of the bar that the newest price is in; undefined if its time is not known. */
function dateOf({ at, date }: Quote, interval: History['interval']): string | undefined {
  if (!isIntraday(interval)) return startOfInterval(date, interval);
  return isInstant(at) ? startOfBar(at, interval) : undefined;
}
