import { type Day, dayOf, isWeekend, MS_PER_DAY } from '../../market/day.ts';

/** The first day of every simulated history. */
export const FIRST_SIMULATED_DAY: Day = dayOf(2015, 1, 1)!;

/** Simulated markets trade on weekdays, except New Year's Day, Good Friday and Christmas Day. */
export function isTradingDay(day: Day): boolean {
  return !isWeekend(day) && !holidaysOf(yearOf(day)).has(day);
}

/** The trading days from `first` to `last`, both included. */
export function tradingDays(first: Day, last: Day): Day[] {
  const days: Day[] = [];
  for (let day = first; day <= last; day++) if (isTradingDay(day)) days.push(day);
  return days;
}

/** All symbols trade on the same days, so they are computed once and extended on demand. */
const days: Day[] = [];
let knownTo: Day = FIRST_SIMULATED_DAY - 1;

/** The n-th trading day of the simulated history. */
export function dayAt(n: number): Day {
  while (days.length <= n) {
    days.push(...tradingDays(knownTo + 1, knownTo + 365));
    knownTo += 365;
  }
  return days[n]!;
}

/** Whether a trading day is the last of its week. 1970-01-01 was a Thursday, so weeks start at day 4 modulo 7. */
export function isLastOfWeek(day: Day): boolean {
  for (let next = day + 1; (next - 4) % 7 !== 0; next++) if (isTradingDay(next)) return false;
  return true;
}

export function firstOfMonth(day: Day): Day {
  const date = new Date(day * MS_PER_DAY);
  return dayOf(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)!;
}

const holidays = new Map<number, ReadonlySet<Day>>();

function holidaysOf(year: number): ReadonlySet<Day> {
  return holidays.getOrInsertComputed(
    year,
    () => new Set([dayOf(year, 1, 1)!, easterSunday(year) - 2, dayOf(year, 12, 25)!]),
  );
}

function yearOf(day: Day): number {
  return new Date(day * MS_PER_DAY).getUTCFullYear();
}

/** By the method of Meeus, Jones and Butcher for the Gregorian calendar. */
function easterSunday(year: number): Day {
  const golden = year % 19;
  const century = Math.floor(year / 100);
  const inCentury = year % 100;
  const leapCorrection = Math.floor((8 * century + 13) / 25);
  const epact = (19 * golden + century - Math.floor(century / 4) - leapCorrection + 15) % 30;
  const shift = (32 + 2 * (century % 4) + 2 * Math.floor(inCentury / 4) - epact - (inCentury % 4)) % 7;
  const late = Math.floor((golden + 11 * epact + 22 * shift) / 451);
  const count = epact + shift - 7 * late + 114;
  return dayOf(year, Math.floor(count / 31), (count % 31) + 1)!;
}
