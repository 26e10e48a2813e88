import { type Day, utcDay } from '../../../market/day.ts';

/**
 * How much of a series is in memory, ascending. `latest` are only the latest prices, of all views; `year` is the history of the
 * last `YEAR_DAYS`.
 */
const LOAD_LEVELS = ['nothing', 'latest', 'recent', 'year', 'all'] as const;
export type LoadLevel = (typeof LOAD_LEVELS)[number];

/** What a request needs in memory. `dates` are only the first and the last one. */
export type RequiredData = LoadLevel | 'dates';

export function isAtLeast(level: LoadLevel, wanted: LoadLevel): boolean {
  return LOAD_LEVELS.indexOf(level) >= LOAD_LEVELS.indexOf(wanted);
}

/**
 * Enough to answer about the last 365 days: a monthly price is looked for up to 100 days back, and its exchange rate another 14.
 * Most requests ask for no older days, and a history of decades takes many times as long to load.
 */
const YEAR_DAYS = 500;

/** The first day of a history that is loaded. */
export function loadedSince(level: LoadLevel, now: number): Day {
  return level === 'year' ? utcDay(now) - YEAR_DAYS : Number.NEGATIVE_INFINITY;
}

/** How much of a history must be in memory to read it from this day on. */
export function historySince(day: Day, now: number): LoadLevel {
  return day >= loadedSince('year', now) ? 'year' : 'all';
}

/** Thrown by a read of days that are not in memory. */
export class NotLoaded extends Error {
  constructor(code: string) {
    super(`only the last year of ${code} is loaded`);
  }
}

/** Whether histories are part of what is loaded. */
export function hasHistory(level: LoadLevel): boolean {
  return isAtLeast(level, 'year');
}
