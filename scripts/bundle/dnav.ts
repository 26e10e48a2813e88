import { type Day, dayOf, parseDay, printDay } from '../../src/market/day.ts';

/** A daily series of EIA, and the files that have parts of it. */
export interface DnavSeries {
  /** Its page below https://www.eia.gov/dnav/. */
  page: string;
  /** The name and the unit. */
  title: string;
  files: readonly string[];
}

/** A day's value as it is written in the file; empty if the file has the day without a value. */
type Days = Map<Day, string>;

/** Joins files of one series. Earlier files win; days on which they disagree are reported. */
export function mergeDays(files: readonly (readonly [name: string, text: string])[]): Days {
  const days: Days = new Map();
  for (const [name, text] of files) {
    let differing = 0;
    for (const [day, value] of daysIn(text)) {
      const known = days.get(day);
      if (known === undefined) days.set(day, value);
      else if (Number(known) !== Number(value)) differing++;
    }
    if (differing > 0)
      console.log(`${name}: ${differing} days differ from the file before it, which is used`);
  }
  return new Map([...days].sort(([a], [b]) => a - b));
}

/** In the format of EIA's own download, oldest day first. */
export function dnavFile({ page, title }: DnavSeries, days: Days): string {
  const name = title.replace(/\s+dollars per .*$/i, '');
  const rows = [...days].map(([day, value]) => {
    const [year, month, date] = printDay(day).split('-');
    return `${month}/${date}/${year},${value}`;
  });
  const head = [
    name,
    `https://www.eia.gov/dnav/${page}.htm`,
    'Source: U.S. Energy Information Administration',
    `Day,${title}`,
  ];
  return `${[...head, ...rows].join('\n')}\n`;
}

function* daysIn(text: string): Iterable<[Day, string]> {
  for (const line of text.split(/\r?\n/)) {
    const [date, value] = line.split(',');
    const match = /^(\d{2})\/(\d{1,2})\/(\d{4})$/.exec(date ?? '');
    const day = match ? dayOf(Number(match[3]), Number(match[1]), Number(match[2])) : parseDay(date ?? '');
    if (day !== undefined && value !== undefined) yield [day, value.trim()];
  }
}
