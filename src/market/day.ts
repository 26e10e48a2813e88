/** A calendar day as a whole number: days since 1970-01-01. */
export type Day = number;

export const MS_PER_DAY = 86_400_000;

/** The days a request may name: 1900-01-01 to 2199-12-31. */
export const FIRST_DAY: Day = Date.UTC(1900, 0, 1) / MS_PER_DAY;
export const LAST_DAY: Day = Date.UTC(2199, 11, 31) / MS_PER_DAY;

/** The first day that the ledger stores: 1000-01-01. Some histories begin in the 13th century. */
export const EARLIEST_DAY: Day = Date.UTC(1000, 0, 1) / MS_PER_DAY;

/** Reads YYYY-MM-DD; undefined when it is not of that form, does not exist, or is out of range. */
export function parseDay(text: string): Day | undefined {
  if (text.length !== 10 || text[4] !== '-' || text[7] !== '-') return undefined;
  const day = dayOf(digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10));
  return day !== undefined && day >= FIRST_DAY && day <= LAST_DAY ? day : undefined;
}

/** Parses a substring of plain digits; NaN for anything else. */
function digits(text: string, from: number, to: number): number {
  let value = 0;
  for (let i = from; i < to; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

/** The day of a year, month (1 to 12) and day of the month; undefined when the day does not exist. */
export function dayOf(year: number, month: number, dayOfMonth: number): Day | undefined {
  const exists = year >= 1000 && month >= 1 && month <= 12 && dayOfMonth >= 1;
  if (!exists || dayOfMonth > daysIn(year, month)) return undefined;
  return Date.UTC(year, month - 1, dayOfMonth) / MS_PER_DAY;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

// Formatting days is hot in requests, so each text of 1900 to 2199 is cached: at most 110,000 short strings.
const printed: string[] = new Array(LAST_DAY - FIRST_DAY + 1);

export function printDay(day: Day): string {
  if (day < FIRST_DAY || day > LAST_DAY) return isoDate(day);
  const slot = day - FIRST_DAY;
  const text = printed[slot] ?? isoDate(day);
  printed[slot] = text;
  return text;
}

function isoDate(day: Day): string {
  return new Date(day * MS_PER_DAY).toISOString().slice(0, 10);
}

/** The UTC day of an instant. */
export function utcDay(ms: number): Day {
  return Math.floor(ms / MS_PER_DAY);
}

/** The last day that a price of any market may have: trade dates in Asia and in evening sessions are ahead of UTC. */
export function latestTradeDate(now: number): Day {
  return utcDay(now) + 2;
}

/** 0 is Sunday, 6 is Saturday. 1970-01-01 was a Thursday. */
export function weekday(day: Day): number {
  return (((day + 4) % 7) + 7) % 7;
}

export function isWeekend(day: Day): boolean {
  const d = weekday(day);
  return d === 0 || d === 6;
}
