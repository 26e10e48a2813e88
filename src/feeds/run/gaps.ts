import { type Day, isWeekend, MS_PER_DAY } from '../../market/day.ts';

/**
 * How many days lack a price between the first and the last. The expected frequency (weekdays, weeks or months) is derived from
 * the days themselves. Holidays count as gaps, because no holiday calendar is known here.
 */
export function gapsIn(days: readonly Day[]): number {
  if (days.length < 2) return 0;
  const first = days[0]!;
  const last = days.at(-1)!;
  const spacings = days.slice(1).map((day, i) => day - days[i]!);
  const usual = spacings.toSorted((a, b) => a - b)[Math.floor(spacings.length / 2)]!;
  if (usual >= 25) return monthOf(last) - monthOf(first) + 1 - new Set(days.map(monthOf)).size;
  const weekOf = (day: Day) => Math.round((day - first) / 7); // a holiday moves it by a day or two
  if (usual >= 5) return weekOf(last) + 1 - new Set(days.map(weekOf)).size;
  return weekdaysBetween(first, last) - days.filter((day) => !isWeekend(day)).length;
}

function monthOf(day: Day): number {
  const date = new Date(day * MS_PER_DAY);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

function weekdaysBetween(first: Day, last: Day): number {
  let count = Math.floor((last - first + 1) / 7) * 5;
  for (let day = last - ((last - first + 1) % 7) + 1; day <= last; day++) if (!isWeekend(day)) count++;
  return count;
}
