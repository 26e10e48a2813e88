import type { MarketSymbol } from '../../api/answers.ts';
import { addDays, daysBetween, today } from '../days.ts';

export const RANGES = ['1M', '6M', '1Y', '5Y', 'All'] as const;
export type Range = (typeof RANGES)[number];

export const INTERVALS = ['day', 'week', 'month', 'quarter', 'year'] as const;
export type BarInterval = (typeof INTERVALS)[number];

/** The first and the last day of a chart. */
export interface DaySpan {
  first: string;
  last: string;
}

const DAYS: Readonly<Record<Range, number>> = { '1M': 30, '6M': 182, '1Y': 365, '5Y': 1826, All: 0 };

/** A bar of a day stands for 1.4 days, because of the weekends. */
const DAYS_PER_BAR: Readonly<Record<BarInterval, number>> = {
  day: 1.4,
  week: 7,
  month: 30.4,
  quarter: 91.3,
  year: 365,
};

/** One page of history, which costs one unit, has 2,000 rows. The rest is margin. */
const ROWS_MAX = 1_950;

/** A symbol whose prices ended long ago still has its last months. */
const ENDED_DAYS = 14;

/** The lowest and highest price of 52 weeks need this many days. */
const YEAR_DAYS = 370;

/** Where a chart ends: today, unless the symbol's prices ended before. */
export function lastDayOf({ lastDate }: Pick<MarketSymbol, 'lastDate'>): string {
  const ended = lastDate !== null && lastDate < addDays(today(), -ENDED_DAYS);
  return ended ? lastDate : today();
}

export function firstDayOf(range: Range, symbol: Pick<MarketSymbol, 'firstDate' | 'lastDate'>): string {
  const start = symbol.firstDate ?? today();
  if (range === 'All') return start;
  return later(addDays(lastDayOf(symbol), -DAYS[range]), start);
}

/** The finest interval in which the span of all symbols fits in one page, but no finer than the prices are. */
export function intervalFor({ first, last }: DaySpan, symbols: readonly MarketSymbol[]): BarInterval {
  const days = daysBetween(first, last);
  const fits = (interval: BarInterval) => (days / DAYS_PER_BAR[interval]) * symbols.length <= ROWS_MAX;
  const finest = INTERVALS.indexOf(finestOf(symbols));
  return INTERVALS.slice(finest).find(fits) ?? 'year';
}

/**
 * The days to load for a chart: more than it shows, as far as one page has room, so that averages are complete from the first bar,
 * the extremes of the last 52 weeks are known, and all ranges up to a year need only one request.
 */
export function withLookback(
  { first, last }: DaySpan,
  interval: BarInterval,
  symbols: readonly MarketSymbol[],
  averages: readonly number[],
): DaySpan {
  const perBar = DAYS_PER_BAR[interval];
  const year = Math.max(0, YEAR_DAYS - daysBetween(first, last));
  const wanted = year + Math.ceil(Math.max(0, ...averages) * perBar * 1.1);
  const room = Math.floor((ROWS_MAX / symbols.length) * perBar) - daysBetween(first, last);
  const start = symbols[0]?.firstDate ?? first;
  return { first: later(addDays(first, -Math.max(0, Math.min(wanted, room))), start), last };
}

/** The span before another one, as long as one page allows; undefined where the history begins. */
export function spanBefore(
  { first }: DaySpan,
  interval: BarInterval,
  symbols: readonly MarketSymbol[],
): DaySpan | undefined {
  const start = symbols[0]?.firstDate ?? first;
  if (first <= start) return undefined;
  const days = Math.floor((ROWS_MAX / symbols.length) * DAYS_PER_BAR[interval]);
  return { first: startOfInterval(later(addDays(first, -days), start), interval), last: addDays(first, -1) };
}

/** The first day of the interval that holds a day: rows of a history have that day. */
export function startOfInterval(date: string, interval: BarInterval): string {
  const [year = '', month = ''] = date.split('-');
  if (interval === 'year') return `${year}-01-01`;
  if (interval === 'month') return `${year}-${month}-01`;
  if (interval === 'quarter') {
    const first = Math.floor((Number(month) - 1) / 3) * 3 + 1;
    return `${year}-${String(first).padStart(2, '0')}-01`;
  }
  if (interval === 'week') return addDays(date, -((new Date(date).getUTCDay() + 6) % 7));
  return date;
}

/** Monthly benchmarks have no daily prices. */
function finestOf(symbols: readonly MarketSymbol[]): BarInterval {
  if (symbols.every(({ updateInterval }) => updateInterval === 'month')) return 'month';
  if (symbols.every(({ updateInterval }) => updateInterval === 'month' || updateInterval === 'week')) {
    return 'week';
  }
  return 'day';
}

function later(a: string, b: string): string {
  return a > b ? a : b;
}
