import { type Day, dayOf, MS_PER_DAY, utcDay } from '../market/day.ts';
import { zoneOffset } from '../market/zone.ts';
import { inRange, parseMonth, parseMonthInWords, parsePlainDay } from './formats/day.ts';

export type DateOrder = 'dmy' | 'mdy';

/** Both numbers before the year: which is the day is not in the text itself. */
const TWO_NUMBERS = /^(\d{1,2})([-/. ])(\d{1,2})\2(\d{4})\b/;
const TIME =
  /^(.*\d)(?:T|\s+)(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*([ap]m)?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?$/i;

/**
 * Which of day and month comes first in a file. One value above 12 settles it for the whole file; when none does and
 * it matters, the file is refused rather than read by chance. Undefined when no date leaves it open.
 */
export function findDateOrder(texts: Iterable<string>): DateOrder | undefined {
  let settled: { order: DateOrder; text: string } | undefined;
  let open: string | undefined;
  for (const text of texts) {
    const match = TWO_NUMBERS.exec(text);
    if (!match) continue;
    const [first, second] = [Number(match[1]), Number(match[3])];
    if (first <= 12 && second <= 12) {
      if (first !== second) open ??= text;
      continue;
    }
    const order: DateOrder = first > 12 ? 'dmy' : 'mdy';
    if (settled && settled.order !== order)
      throw new Error(`"${settled.text}" and "${text}" cannot have the same order of day and month`);
    settled ??= { order, text };
  }
  if (!settled && open !== undefined)
    throw new Error(
      `"${open}" may be day/month or month/day, and no date of the file settles it; say --date-order dmy or mdy`,
    );
  return settled?.order;
}

/**
 * The day that a text names. The day of a timestamp is the one that is written; with a `zone`, a timestamp that says
 * its offset is taken to that zone first.
 */
export function readDay(
  text: string,
  order: DateOrder | undefined,
  zone: string | undefined,
): Day | undefined {
  const plain = readDate(text, order);
  if (plain !== undefined) return plain;
  if (/^\d{10}(\.\d+)?$|^\d{13}$/.test(text)) {
    const ms = text.length === 13 ? Number(text) : Number(text) * 1000;
    return inRange(dayIn(zone ?? 'UTC', ms));
  }
  const match = TIME.exec(text);
  const day = match ? readDate(match[1]!, order) : undefined;
  if (!match || day === undefined) return undefined;
  const ms = timeOfDay(match);
  if (ms === undefined) return undefined;
  const offset = match[6];
  return zone && offset ? inRange(dayIn(zone, day * MS_PER_DAY + ms - offsetMs(offset))) : day;
}

function readDate(text: string, order: DateOrder | undefined): Day | undefined {
  const plain = parsePlainDay(text) ?? parseMonth(text) ?? parseMonthInWords(text);
  if (plain !== undefined) return plain;
  const match = TWO_NUMBERS.exec(text);
  if (!match || match[0] !== text) return undefined;
  const [first, second, year] = [Number(match[1]), Number(match[3]), Number(match[4])];
  return inRange(order === 'dmy' ? dayOf(year, second, first) : dayOf(year, first, second));
}

function timeOfDay([, , hours, minutes, seconds, half]: RegExpExecArray): number | undefined {
  let hour = Number(hours);
  if (half) hour = (hour % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
  if (hour > 24 || Number(minutes) > 59 || Number(seconds ?? 0) > 60) return undefined;
  return ((hour * 60 + Number(minutes)) * 60 + Number(seconds ?? 0)) * 1000;
}

function offsetMs(text: string): number {
  const match = /^([+-])(\d{2}):?(\d{2})$/.exec(text);
  if (!match) return 0;
  return (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3])) * 60_000;
}

function dayIn(zone: string, ms: number): Day {
  return utcDay(ms + zoneOffset(zone, ms));
}
