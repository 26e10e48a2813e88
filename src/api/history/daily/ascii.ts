import { type Day, printDay } from '../../../market/day.ts';
import { printNumber } from '../../../market/decimal.ts';

/**
 * Writes dates and numbers as ASCII, straight into the bytes that are sent: a string per cell would take most of the time
 * of a long table. Each function returns where the next cell starts.
 */

/** Enough for any number that `writeNumber` writes: 1e308 has 309 digits, 5e-324 has 324 decimals. */
export const NUMBER_BYTES_MAX = 330;
export const DAY_BYTES = 10;

const ZERO = 0x30;
const MINUS = 0x2d;
const POINT = 0x2e;

/** Powers of ten that are exact in a float64, and far more decimals than prices have. */
const POWERS = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8] as const;
const PLACES_MAX = POWERS.length - 1;
/** Decimals of most prices. */
const PLACES_USUAL = 2;
/** Integers up to this have at most 15 digits, and any two decimals of 15 digits are different numbers. */
const WHOLE_MAX = 999_999_999_999_999;
const INT32_MAX = 0x7fff_ffff;

/** The same text as `printNumber`. */
export function writeNumber(value: number, to: Uint8Array, at: number): number {
  const magnitude = value < 0 ? -value : value;
  for (let places = PLACES_USUAL; places <= PLACES_MAX; places += 2) {
    const scale = POWERS[places]!;
    const whole = Math.round(magnitude * scale);
    if (whole > WHOLE_MAX) break;
    // The quotient is rounded once, so it is equal only if these digits read back as the same number.
    if (whole / scale !== magnitude) continue;
    const start = value < 0 ? at + 1 : at;
    if (value < 0) to[at] = MINUS;
    return writeDecimal(whole, places, to, start);
  }
  return writeAscii(printNumber(value), to, at);
}

/** whole × 10^−places, without trailing zeros. */
function writeDecimal(whole: number, places: number, to: Uint8Array, at: number): number {
  let digits = whole;
  let decimals = places;
  while (decimals > 0 && digits % 10 === 0) {
    digits /= 10;
    decimals--;
  }
  const length = Math.max(lengthOf(digits), decimals + 1);
  const end = decimals > 0 ? at + length + 1 : at + length;
  let place = end;
  for (let i = 0; i < decimals; i++) {
    const rest = digits <= INT32_MAX ? ((digits | 0) / 10) | 0 : Math.floor(digits / 10);
    to[--place] = ZERO + (digits - rest * 10);
    digits = rest;
  }
  if (decimals > 0) to[--place] = POINT;
  while (place > at) {
    const rest = digits <= INT32_MAX ? ((digits | 0) / 10) | 0 : Math.floor(digits / 10);
    to[--place] = ZERO + (digits - rest * 10);
    digits = rest;
  }
  return end;
}

function lengthOf(digits: number): number {
  let length = 1;
  for (let limit = 10; limit <= digits; limit *= 10) length++;
  return length;
}

const DAYS_PER_ERA = 146_097; // 400 years
const DAYS_BEFORE_1970 = 719_468; // since 0000-03-01

/**
 * The same text as `printDay`. Years begin in March, so that the leap day is the last one
 * (https://howardhinnant.github.io/date_algorithms.html#civil_from_days).
 */
export function writeDay(day: Day, to: Uint8Array, at: number): number {
  const days = day + DAYS_BEFORE_1970;
  if (days < 0) return writeAscii(printDay(day), to, at);
  const era = (days / DAYS_PER_ERA) | 0;
  const dayOfEra = days - era * DAYS_PER_ERA;
  const leapDays = ((dayOfEra / 1_460) | 0) - ((dayOfEra / 36_524) | 0) + ((dayOfEra / 146_096) | 0);
  const yearOfEra = ((dayOfEra - leapDays) / 365) | 0;
  const dayOfYear = dayOfEra - (365 * yearOfEra + (yearOfEra >> 2) - ((yearOfEra / 100) | 0));
  const monthFromMarch = ((5 * dayOfYear + 2) / 153) | 0;
  const dayOfMonth = dayOfYear - (((153 * monthFromMarch + 2) / 5) | 0) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const century = (year / 100) | 0;
  writeTwo(century, to, at);
  writeTwo(year - century * 100, to, at + 2);
  to[at + 4] = MINUS;
  writeTwo(month, to, at + 5);
  to[at + 7] = MINUS;
  writeTwo(dayOfMonth, to, at + 8);
  return at + DAY_BYTES;
}

function writeTwo(value: number, to: Uint8Array, at: number): void {
  const tens = (value / 10) | 0;
  to[at] = ZERO + tens;
  to[at + 1] = ZERO + (value - tens * 10);
}

function writeAscii(text: string, to: Uint8Array, at: number): number {
  for (let i = 0; i < text.length; i++) to[at + i] = text.charCodeAt(i);
  return at + text.length;
}

export function writeBytes(bytes: Uint8Array, to: Uint8Array, at: number): number {
  for (let i = 0; i < bytes.length; i++) to[at + i] = bytes[i]!;
  return at + bytes.length;
}

/** Repeats the bytes from `start` to `end` at `at`. */
export function repeatBytes(to: Uint8Array, start: number, end: number, at: number): number {
  for (let i = start; i < end; i++) to[at + i - start] = to[i]!;
  return at + end - start;
}
