import { useMemo, useRef } from 'preact/hooks';
import type { ChartBar, Quote } from '../../api/answers.ts';
import { today } from '../days.ts';
import type { QuoteOf } from '../market/use-quotes.ts';
import { isSimulated } from '../simulated.ts';
import { roundConverted } from '../units.ts';
import type { ChartSeries, History } from './history.ts';
import { isInstant, isIntraday, startOfBar } from './intraday.ts';
import { startOfInterval } from './span.ts';

/** What one series has had since its history was loaded. */
interface LiveEnd {
  isSimulated: boolean;
  /** The last loaded bar and those after it. */
  bars: readonly ChartBar[];
}

/** The series of a history, with the prices that have come since it was loaded. */
export function useLiveSeries(history: History | undefined, quoteOf: QuoteOf): readonly ChartSeries[] {
  const known = useRef<{ askedAt: number; ends: readonly LiveEnd[] }>(undefined);
  // Each symbol of a formula may have traded on another day.
  const quotes = history?.series.map(({ symbol }) => (symbol.formula ? undefined : quoteOf(symbol))) ?? [];
  return useMemo(() => {
    if (!history) return [];
    const { askedAt, interval, last } = history;
    const before = known.current?.askedAt === askedAt ? known.current.ends : [];
    const ends = history.series.map((one, i) => {
      const end = before[i] ?? { isSimulated: isFrom(quotes[i]), bars: one.bars.slice(-1) };
      // A real price does not continue simulated ones: the history is loaded again.
      if (isFrom(quotes[i]) !== end.isSimulated) return end;
      return { ...end, bars: withNewest({ ...one, bars: end.bars }, interval, quotes[i], last >= today()) };
    });
    known.current = { askedAt, ends };
    return history.series.map((one, i) => ({ ...one, bars: [...one.bars.slice(0, -1), ...ends[i]!.bars] }));
  }, [history, quotes.map((quote) => `${quote?.at} ${quote?.rate} ${quote?.source}`).join()]);
}

function isFrom(quote: Quote | undefined): boolean {
  return isSimulated(quote?.source ?? '');
}

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
