import { type Day, dayOf, MS_PER_DAY, utcDay } from '../../market/day.ts';
import { zoneOffset } from '../../market/zone.ts';
import { inRange, parseMonth, parseMonthInWords, parsePlainDay, parseYear } from '../formats/day.ts';

export type DateOrder = 'dmy' | 'mdy';

/** Longer texts are not dates. */
const CHARS_MAX = 64;

/** Two numbers before the year: either may be the day. */
const TWO_NUMBERS = /^(\d{1,2})([-/. ])(\d{1,2})\2(\d{4})\b/;
const TIME =
  /^(.*\d)(?:T|\s+)(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*([ap]m)?\s*(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?$/i;

/** Whether either of the first two numbers may be the day. */
export function needsDateOrder(text: string): boolean {
  return TWO_NUMBERS.test(text);
}

/** Whether a text is a date in any form, whatever the order of day and month. */
export function looksLikeDate(text: string): boolean {
  return (['dmy', 'mdy'] as const).some((order) => readDay(text, order, undefined) !== undefined);
}

/**
 * Finds the order of day and month in a file. One value above 12 determines it for the whole file. If none does and it
 * matters, the file is rejected.
 */
export class DateOrderFinder {
  #known: { order: DateOrder; text: string } | undefined;
  #ambiguous: string | undefined;

  add(text: string): void {
    const match = TWO_NUMBERS.exec(text);
    if (!match) return;
    const [first, second] = [Number(match[1]), Number(match[3])];
    if (first <= 12 && second <= 12) {
      if (first !== second) this.#ambiguous ??= text;
      return;
    }
    const order: DateOrder = first > 12 ? 'dmy' : 'mdy';
    if (this.#known && this.#known.order !== order)
      throw new Error(`"${this.#known.text}" and "${text}" cannot have the same order of day and month`);
    this.#known ??= { order, text };
  }

  /** Undefined if no date is ambiguous. */
  get order(): DateOrder | undefined {
    if (!this.#known && this.#ambiguous !== undefined)
      throw new Error(
        `"${this.#ambiguous}" may be day/month or month/day, and no date in the file decides; use --date-order dmy or mdy`,
      );
    return this.#known?.order;
  }
}

/**
 * The day of a text: a date, a month (its first day), a year (1 January) or a timestamp. A timestamp's day is taken as
 * written; with a `zone`, a timestamp with an offset is converted to that zone first.
 */
export function readDay(
  text: string,
  order: DateOrder | undefined,
  zone: string | undefined,
): Day | undefined {
  if (text.length > CHARS_MAX) return undefined;
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
  const plain = parsePlainDay(text) ?? parseMonth(text) ?? parseMonthInWords(text) ?? parseYear(text);
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
  const match = /^([+-])(\d{2}):?(\d{2})?$/.exec(text);
  if (!match) return 0;
  return (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3] ?? 0)) * 60_000;
}

function dayIn(zone: string, ms: number): Day {
  return utcDay(ms + zoneOffset(zone, ms));
}
