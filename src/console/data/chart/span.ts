import type { MarketSymbol } from '../../api/answers.ts';
import { addDays, daysBetween, today } from '../days.ts';
import {
  addMinutes,
  INTRADAY_INTERVALS,
  isInstant,
  isIntraday,
  MINUTES,
  printInstant,
  type ShortInterval,
} from './intraday.ts';

export const RANGES = ['1D', '5D', '1M', '6M', '1Y', '5Y', 'All'] as const;
export type Range = (typeof RANGES)[number];

export const CALENDAR_INTERVALS = ['day', 'week', 'month', 'quarter', 'year'] as const;
export type CalendarInterval = (typeof CALENDAR_INTERVALS)[number];
export type BarInterval = ShortInterval | CalendarInterval;

/** The first and the last day of a chart; instants, if its bars are shorter than a day. */
export interface DaySpan {
  first: string;
  last: string;
}

/** Five days of trading have a weekend in between. */
const DAYS: Readonly<Record<Range, number>> = {
  '1D': 1,
  '5D': 7,
  '1M': 30,
  '6M': 182,
  '1Y': 365,
  '5Y': 1826,
  All: 0,
};

/** The finest interval that the page chooses by itself for a short range, and the days on which the market is open. */
const SHORT_RANGES = {
  '1D': { finest: '5min', tradingDays: 1 },
  '5D': { finest: '15min', tradingDays: 5 },
} as const;
type ShortRange = keyof typeof SHORT_RANGES;

/** A bar of a day stands for 1.4 days, because of the weekends. */
const DAYS_PER_BAR: Readonly<Record<CalendarInterval, number>> = {
  day: 1.4,
  week: 7,
  month: 30.4,
  quarter: 91.3,
  year: 365,
};

const MINUTES_PER_DAY = 1_440;

/** One page of history, which costs one unit, has 2,000 rows. The rest is margin. */
const ROWS_MAX = 1_950;

/** A symbol whose prices ended long ago still has its last months. */
const ENDED_DAYS = 14;

/** The lowest and highest price of 52 weeks need this many days. */
const YEAR_DAYS = 370;

/** Where a chart ends: today, unless the symbol's prices ended before, or already trade for tomorrow. */
export function lastDayOf({ lastDate }: Pick<MarketSymbol, 'lastDate'>): string {
  if (lastDate === null) return today();
  const ended = lastDate < addDays(today(), -ENDED_DAYS);
  return ended ? lastDate : later(lastDate, today());
}

export function firstDayOf(range: Range, symbol: Pick<MarketSymbol, 'firstDate' | 'lastDate'>): string {
  const start = symbol.firstDate ?? today();
  if (range === 'All') return start;
  return later(addDays(lastDayOf(symbol), -DAYS[range]), start);
}

export function isShort(range: Range): range is ShortRange {
  return range in SHORT_RANGES;
}

/** The intervals that a user can choose for a range. */
export function intervalsFor(range: Range | undefined): readonly BarInterval[] {
  return range && isShort(range) ? INTRADAY_INTERVALS : CALENDAR_INTERVALS;
}

/** A short range ends with the newest price, so that it is not empty on a weekend. `newest` may be a day. */
export function shortSpan(range: ShortRange, newest: string): DaySpan {
  const end = isInstant(newest) ? newest : `${newest}T23:59:59Z`;
  return { first: addMinutes(end, -DAYS[range] * MINUTES_PER_DAY), last: `${today()}T23:59:59Z` };
}

export function shortIntervalFor(range: ShortRange, symbols: readonly MarketSymbol[]): ShortInterval {
  const { finest, tradingDays } = SHORT_RANGES[range];
  const minutes = tradingDays * MINUTES_PER_DAY * symbols.length;
  const candidates = INTRADAY_INTERVALS.slice(INTRADAY_INTERVALS.indexOf(finest));
  return candidates.find((interval) => minutes / MINUTES[interval] <= ROWS_MAX) ?? 'hour';
}

/** The finest interval in which the span of all symbols fits in one page, but no finer than the prices are. */
export function intervalFor({ first, last }: DaySpan, symbols: readonly MarketSymbol[]): CalendarInterval {
  const days = daysBetween(first, last);
  const fits = (interval: CalendarInterval) => (days / DAYS_PER_BAR[interval]) * symbols.length <= ROWS_MAX;
  const finest = CALENDAR_INTERVALS.indexOf(finestOf(symbols));
  return CALENDAR_INTERVALS.slice(finest).find(fits) ?? 'year';
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
  const averageBars = Math.max(0, ...averages);
  if (isIntraday(interval)) {
    const minutes = MINUTES[interval];
    const room = Math.floor((ROWS_MAX / symbols.length) * minutes) - minutesBetween(first, last);
    return { first: addMinutes(first, -Math.max(0, Math.min(averageBars * minutes, room))), last };
  }
  const perBar = DAYS_PER_BAR[interval];
  const year = Math.max(0, YEAR_DAYS - daysBetween(first, last));
  const wanted = year + Math.ceil(averageBars * perBar * 1.1);
  const room = Math.floor((ROWS_MAX / symbols.length) * perBar) - daysBetween(first, last);
  const start = symbols[0]?.firstDate ?? first;
  if (first <= start) return fromWholeInterval({ first, last }, interval);
  const earlier = later(addDays(first, -Math.max(0, Math.min(wanted, room))), start);
  return fromWholeInterval({ first: earlier, last }, interval);
}

/** A row of a history has only the days that were asked for, so a request begins where an interval does. */
export function fromWholeInterval({ first, last }: DaySpan, interval: BarInterval): DaySpan {
  return { first: isIntraday(interval) ? first : startOfInterval(first, interval), last };
}

/** The span before another one, as long as one page allows; undefined where the history begins. */
export function spanBefore(
  { first }: DaySpan,
  interval: BarInterval,
  symbols: readonly MarketSymbol[],
): DaySpan | undefined {
  const start = symbols[0]?.firstDate ?? first;
  if (first <= start) return undefined;
  const bars = ROWS_MAX / symbols.length;
  if (isIntraday(interval)) {
    const minutes = Math.floor(bars) * MINUTES[interval];
    return { first: addMinutes(first, -minutes), last: printInstant(Date.parse(first) - 1_000) };
  }
  const days = Math.floor(bars * DAYS_PER_BAR[interval]);
  return { first: startOfInterval(later(addDays(first, -days), start), interval), last: addDays(first, -1) };
}

/** The first day of the interval that holds a day: rows of a history have that day. */
export function startOfInterval(date: string, interval: CalendarInterval): string {
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
function finestOf(symbols: readonly MarketSymbol[]): CalendarInterval {
  if (symbols.every(({ updateInterval }) => updateInterval === 'month')) return 'month';
  if (symbols.every(({ updateInterval }) => updateInterval === 'month' || updateInterval === 'week')) {
    return 'week';
  }
  return 'day';
}

function minutesBetween(first: string, last: string): number {
  return (Date.parse(last) - Date.parse(first)) / 60_000;
}

function later(a: string, b: string): string {
  return a > b ? a : b;
}
