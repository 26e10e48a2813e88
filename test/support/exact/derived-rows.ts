import { parseDay, printDay } from '../../../src/market/day.ts';
import {
  decimalsOf,
  dividedBy,
  logOf,
  magnitude,
  meanOf,
  minus,
  type Rational,
  rational,
  roundedAt,
  roundedTo,
  timesOf,
} from './rational.ts';

/** Closes by date, ascending. */
export type DatedCloses = readonly (readonly [date: string, close: number])[];

export interface DerivedQuery {
  interval: string;
  transform: 'change' | 'percent' | 'log' | 'index' | undefined;
  period: number;
  moving: number | undefined;
}

export interface DerivedRow {
  date: string;
  close: number;
  average: number;
  count: number;
  derived: number | undefined;
  moving: number | undefined;
}

interface Group {
  start: string;
  closes: number[];
}

/**
 * The rows of `/rates/history` as docs/api.md defines them, by exact fractions. The range begins where an interval begins.
 */
export function derivedRows(
  all: DatedCloses,
  [first, last]: readonly [string, string],
  places: number,
  { interval, transform, period, moving }: DerivedQuery,
): DerivedRow[] {
  const groups = grouped(
    all.filter(([date]) => date <= last),
    interval,
  );
  const closeOf = (group: Group | undefined) => group?.closes.at(-1);
  const base = closeOf(groups.find(({ start }) => start >= first));
  return groups.flatMap((group, i): DerivedRow[] => {
    if (group.start < first) return [];
    const close = closeOf(group)!;
    const start = shifted(group.start, interval, -period);
    const before =
      interval === 'day' ? groups[i - period] : groups.find((earlier) => earlier.start === start);
    const compared = transform === 'index' ? base : closeOf(before);
    const window = moving && i + 1 >= moving ? groups.slice(i + 1 - moving, i + 1) : undefined;
    return [
      {
        date: group.start,
        close,
        average: meanClose(group.closes, places),
        count: group.closes.length,
        derived: transform && compared !== undefined ? derivedFrom(transform, compared, close) : undefined,
        moving:
          window &&
          meanClose(
            window.map((one) => closeOf(one)!),
            places,
          ),
      },
    ];
  });
}

/** Rounded to the decimals of the symbol or of the closes, and at most to 15 digits. */
export function meanClose(closes: readonly number[], places: number): number {
  const mean = meanOf(closes.map(rational));
  const rounded = roundedAt(mean, Math.max(places, ...closes.map(decimalsOf)));
  return closes.length === 1 ? closes[0]! : digitsOf(rounded) <= 15 ? rounded : roundedTo(mean, 15);
}

function digitsOf(value: number): number {
  return value.toExponential().split('e')[0]!.replace(/[-.]/g, '').length;
}

/** A close compared with a base; undefined where that is not defined. */
export function derivedFrom(
  transform: NonNullable<DerivedQuery['transform']>,
  base: number,
  close: number,
): number | undefined {
  const [from, to] = [rational(base), rational(close)];
  if (transform === 'change') return roundedAt(minus(to, from), 15);
  const hundred: Rational = { n: 100n, d: 1n };
  if (transform === 'log') {
    return base > 0 && close > 0 ? roundedAt(logOf(dividedBy(to, from)!), 10) : undefined;
  }
  const share = transform === 'index' ? dividedBy(to, from) : dividedBy(minus(to, from), magnitude(from));
  return share && roundedAt(timesOf(share, hundred), 4);
}

function grouped(all: DatedCloses, interval: string): Group[] {
  const groups = new Map<string, number[]>();
  for (const [date, close] of all) {
    const start = startOf(date, interval);
    groups.set(start, [...(groups.get(start) ?? []), close]);
  }
  return [...groups].map(([start, closes]) => ({ start, closes }));
}

/** The first day of the calendar's interval. Weeks begin on Monday. */
function startOf(date: string, interval: string): string {
  const [year = '', month = ''] = date.split('-');
  switch (interval) {
    case 'week':
      return daysLater(date, -((new Date(date).getUTCDay() + 6) % 7));
    case 'month':
      return `${year}-${month}-01`;
    case 'quarter':
      return `${year}-${String(3 * Math.floor((Number(month) - 1) / 3) + 1).padStart(2, '0')}-01`;
    case 'year':
      return `${year}-01-01`;
    default:
      return date;
  }
}

function shifted(start: string, interval: string, count: number): string {
  if (interval === 'day') return daysLater(start, count);
  if (interval === 'week') return daysLater(start, 7 * count);
  const months = { month: 1, quarter: 3, year: 12 }[interval]! * count;
  const date = new Date(start);
  date.setUTCMonth(date.getUTCMonth() + months);
  return date.toISOString().slice(0, 10);
}

function daysLater(date: string, days: number): string {
  return printDay(parseDay(date)! + days);
}
