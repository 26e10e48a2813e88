import { isIntraday } from '../data/chart/intraday.ts';
import { type BarInterval, type CalendarInterval, startOfInterval } from '../data/chart/span.ts';
import { addDays, daysBetween } from '../data/days.ts';

/** A longer pause than this between two bars is shown as long as it was. Holidays are shorter. */
const PAUSE_DAYS: Readonly<Record<CalendarInterval, number>> = {
  day: 7,
  week: 7,
  month: 31,
  quarter: 92,
  year: 366,
};

/** More than the days in the interval, but less than twice as many. */
const STEP_DAYS: Readonly<Record<CalendarInterval, number>> = {
  day: 1,
  week: 7,
  month: 32,
  quarter: 93,
  year: 367,
};

/**
 * The times of a chart, with those added at which nothing was published. The chart library draws its bars side by side, so without
 * them a month without prices, or an older part with monthly prices, would be as wide as a day. Nights and weekends take no room
 * between bars shorter than a day.
 */
export function timeGrid(dates: readonly string[], interval: BarInterval): string[] {
  if (isIntraday(interval)) return [...dates];
  const grid: string[] = [];
  for (const [i, date] of dates.entries()) {
    const before = dates[i - 1];
    if (before !== undefined && daysBetween(before, date) > PAUSE_DAYS[interval]) {
      grid.push(...between(before, date, interval));
    }
    grid.push(date);
  }
  return grid;
}

/** The dates of all series together, in order, each once. */
export function unionOf(lists: readonly (readonly string[])[]): string[] {
  const [first, ...others] = lists;
  if (others.length === 0) return [...(first ?? [])];
  return [...new Set(lists.flat())].sort();
}

function between(before: string, date: string, interval: CalendarInterval): string[] {
  const found: string[] = [];
  for (let at = next(before, interval); at < date; at = next(at, interval)) found.push(at);
  return found;
}

function next(date: string, interval: CalendarInterval): string {
  const after = startOfInterval(addDays(date, STEP_DAYS[interval]), interval);
  if (interval !== 'day') return after;
  const weekday = new Date(after).getUTCDay();
  return weekday === 6 ? addDays(after, 2) : weekday === 0 ? addDays(after, 1) : after;
}
