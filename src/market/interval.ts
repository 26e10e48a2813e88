import type { Bar, Ohlc } from './bar.ts';
import { type Day, MS_PER_DAY, weekday } from './day.ts';

/** The intervals that bars are folded to. Weeks start on Monday. */
export const INTERVALS = ['day', 'week', 'month', 'quarter', 'year'] as const;

export type Interval = (typeof INTERVALS)[number];

const MONTHS: Readonly<Record<'month' | 'quarter' | 'year', number>> = { month: 1, quarter: 3, year: 12 };

/** The first day of the interval that contains a day. */
export function intervalStart(interval: Interval, day: Day): Day {
  if (interval === 'day') return day;
  if (interval === 'week') return day - ((weekday(day) + 6) % 7);
  const date = new Date(day * MS_PER_DAY);
  const months = MONTHS[interval];
  const month = date.getUTCMonth();
  return Date.UTC(date.getUTCFullYear(), month - (month % months), 1) / MS_PER_DAY;
}

/** The first day of the interval `count` intervals after the one that contains a day. */
export function laterInterval(interval: Interval, day: Day, count: number): Day {
  const start = intervalStart(interval, day);
  if (interval === 'day') return start + count;
  if (interval === 'week') return start + 7 * count;
  const date = new Date(start * MS_PER_DAY);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + MONTHS[interval] * count, 1) / MS_PER_DAY;
}

/** Counts the intervals that contain the given days, which must be in order. */
export function countIntervals(days: Int32Array, interval: Interval): number {
  if (interval === 'day') return days.length;
  let count = 0;
  let end = Number.NEGATIVE_INFINITY; // of the current interval
  for (let i = 0; i < days.length; i++) {
    if (days[i]! < end) continue;
    end = laterInterval(interval, days[i]!, 1);
    count++;
  }
  return count;
}

/** One interval's bars, folded into one. */
export interface FoldedBar<B extends Bar> extends Ohlc {
  /** The first day of the interval, with or without a bar. */
  day: Day;
  /** The folded bars, ascending. */
  bars: B[];
}

/** Folds bars in order of days: the open of the first, the close of the last, the highest high and the lowest low. */
export function foldBars<B extends Bar>(bars: readonly B[], interval: Interval): FoldedBar<B>[] {
  const folded: FoldedBar<B>[] = [];
  let end = Number.NEGATIVE_INFINITY; // of the current interval
  for (const bar of bars) {
    const last = folded.at(-1);
    if (last && bar.day < end) {
      last.high = Math.max(last.high, bar.high);
      last.low = Math.min(last.low, bar.low);
      last.close = bar.close;
      last.bars.push(bar);
      continue;
    }
    const { open, high, low, close } = bar;
    const day = intervalStart(interval, bar.day);
    end = laterInterval(interval, day, 1);
    folded.push({ day, open, high, low, close, bars: [bar] });
  }
  return folded;
}
