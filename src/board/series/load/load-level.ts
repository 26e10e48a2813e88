import { type Day, utcDay } from '../../../market/day.ts';

/**
 * How much of a series is in memory, ascending. `latest` are only the latest prices, of all views; `twoYears` is the history of
 * the last `TWO_YEARS_DAYS`.
 */
const LOAD_LEVELS = ['nothing', 'latest', 'recent', 'twoYears', 'all'] as const;
export type LoadLevel = (typeof LOAD_LEVELS)[number];

/** What a request needs in memory. `dates` are only the first and the last one. */
export type RequiredData = LoadLevel | 'dates';

/** Latest prices without the other ticks are soon read again, so a request must not take long to load all of its symbols. */
const LATEST_SYMBOLS_MAX = 10;

/** What is loaded of each symbol of a request. */
export function levelFor(required: RequiredData, symbolCount: number): LoadLevel {
  if (required === 'dates' || (required === 'latest' && symbolCount > LATEST_SYMBOLS_MAX)) return 'recent';
  return required;
}

export function isAtLeast(level: LoadLevel, wanted: LoadLevel): boolean {
  return LOAD_LEVELS.indexOf(level) >= LOAD_LEVELS.indexOf(wanted);
}

/**
 * Enough to compare a day of the last year with one a year earlier: a monthly price is looked for up to 100 days back, and its
 * exchange rate another 14. Few requests ask for older days, and a history of decades takes many times as long to load.
 */
const TWO_YEARS_DAYS = 850;

/** The first day of a history that is loaded. */
export function loadedSince(level: LoadLevel, now: number): Day {
  return level === 'twoYears' ? utcDay(now) - TWO_YEARS_DAYS : Number.NEGATIVE_INFINITY;
}

/** How much of a history must be in memory to read it from this day on. */
export function historySince(day: Day, now: number): LoadLevel {
  return day >= loadedSince('twoYears', now) ? 'twoYears' : 'all';
}

/** Thrown by a read of days that are not in memory. */
export class NotLoaded extends Error {
  constructor(code: string) {
    super(`these days of ${code} are not loaded`);
  }
}

/** Whether histories are part of what is loaded. */
export function hasHistory(level: LoadLevel): boolean {
  return isAtLeast(level, 'twoYears');
}
