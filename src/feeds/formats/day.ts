import { type Day, dayOf, EARLIEST_DAY, LAST_DAY, parseDay } from '../../market/day.ts';

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** `1960M01`, `2026-M08`, `2026-08`, `2026/8` or `08/2026`: a monthly value belongs to the first day of its month. */
export function parseMonth(text: string): Day | undefined {
  const match = /^(\d{4})(?:[-/ ]?M|[-/])(\d{1,2})$/i.exec(text.trim());
  if (match) return inRange(dayOf(Number(match[1]), Number(match[2]), 1));
  const yearLast = /^(\d{1,2})[-/](\d{4})$/.exec(text.trim());
  return yearLast ? inRange(dayOf(Number(yearLast[2]), Number(yearLast[1]), 1)) : undefined;
}

/** `1960`: a yearly value belongs to 1 January. */
export function parseYear(text: string): Day | undefined {
  return /^\d{4}$/.test(text) ? inRange(dayOf(Number(text), 1, 1)) : undefined;
}

/** A day in an unambiguous form, with its month in words or its year first: `13 April 2026`, `20260413`. */
export function parsePlainDay(text: string): Day | undefined {
  const iso = parseDay(text);
  if (iso !== undefined) return iso;
  const yearFirst =
    /^(\d{4})([-/. ])(\d{1,2})\2(\d{1,2})$/.exec(text) ?? /^(\d{4})()(\d{2})(\d{2})$/.exec(text);
  if (yearFirst) return inRange(dayOf(Number(yearFirst[1]), Number(yearFirst[3]), Number(yearFirst[4])));
  const dayFirst = /^(\d{1,2})[-. /]+([a-z]{3,9})\.?[-, /]+(\d{4})$/i.exec(text);
  if (dayFirst) return inWords(dayFirst[3]!, dayFirst[2]!, dayFirst[1]!);
  const monthFirst = /^([a-z]{3,9})\.?[- ]+(\d{1,2})[-, ]+(\d{4})$/i.exec(text);
  return monthFirst ? inWords(monthFirst[3]!, monthFirst[1]!, monthFirst[2]!) : undefined;
}

/** `Apr 2026`, `April-2026`: the first day of that month. */
export function parseMonthInWords(text: string): Day | undefined {
  const match = /^([a-z]{3,9})\.?[-, ]+(\d{4})$/i.exec(text);
  return match ? inWords(match[2]!, match[1]!, '1') : undefined;
}

function inWords(year: string, month: string, dayOfMonth: string): Day | undefined {
  const name = month.toLowerCase();
  const index = MONTHS.indexOf(name.slice(0, 3));
  if (index < 0 || !FULL_MONTHS[index]!.startsWith(name)) return undefined;
  return inRange(dayOf(Number(year), index + 1, Number(dayOfMonth)));
}

const FULL_MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];

/** The day, if the ledger can store it. */
export function inRange(day: Day | undefined): Day | undefined {
  return day !== undefined && day >= EARLIEST_DAY && day <= LAST_DAY ? day : undefined;
}
