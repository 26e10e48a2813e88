/**
 * Writes dates and numbers as ASCII, straight into the bytes that are sent: a string per cell would take most of the time
 * of a long table. Each function returns where the next cell starts.
 */

import { type Day, printDay } from '../../../market/day.ts';
import { printNumber } from '../../../market/decimal.ts';

/** Enough for any number that `writeNumber` writes: 1e308 has 309 digits, 5e-324 has 324 decimals. */
export const NUMBER_BYTES_MAX = 330;
export const DAY_BYTES = 10;

const ZERO = 0x30;
const MINUS = 0x2d;
const POINT = 0x2e;

/** Powers of ten that are exact in a float64, and far more decimals than prices have. */
const POWERS = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8] as const;
const PLACES_MAX = POWERS.length - 1;
/** Most prices have at most two decimals, and are less than this. */
const HUNDREDTHS_MAX = 0x7fff_ffff;
/** Integers up to this have at most 15 digits, and any two decimals of 15 digits are different numbers. */
const WHOLE_MAX = 999_999_999_999_999;
const INT32_MAX = 0x7fff_ffff;

/** The same text as `printNumber`. */
export function writeNumber(value: number, to: Uint8Array, at: number): number {
  const magnitude = value < 0 ? -value : value;
  const hundredths = magnitude * 100 + 0.5;
  if (hundredths < HUNDREDTHS_MAX) {
    const whole = hundredths | 0;
    if (whole / 100 === magnitude) return writeHundredths(whole, to, value < 0 ? writeMinus(to, at) : at);
  }
  for (let places = 2; places <= PLACES_MAX; places += 2) {
    const scale = POWERS[places]!;
    const whole = Math.round(magnitude * scale);
    if (whole > WHOLE_MAX) break;
    // The quotient is rounded once, so it is equal only if these digits read back as the same number.
    if (whole / scale !== magnitude) continue;
    return writeDecimal(whole, places, to, value < 0 ? writeMinus(to, at) : at);
  }
  return writeAscii(printNumber(value), to, at);
}

function writeMinus(to: Uint8Array, at: number): number {
  to[at] = MINUS;
  return at + 1;
}

/** A 32-bit integer / 100, without trailing zeros. */
function writeHundredths(whole: number, to: Uint8Array, at: number): number {
  const units = (whole / 100) | 0;
  const end = at + lengthOf(units);
  for (let place = end - 1, digits = units; place >= at; place--) {
    const rest = (digits / 10) | 0;
    to[place] = ZERO + (digits - rest * 10);
    digits = rest;
  }
  const decimals = whole - units * 100;
  if (decimals === 0) return end;
  const tenths = (decimals / 10) | 0;
  to[end] = POINT;
  to[end + 1] = ZERO + tenths;
  if (decimals === tenths * 10) return end + 2;
  to[end + 2] = ZERO + (decimals - tenths * 10);
  return end + 3;
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
/** Later days of a month look up their month again. */
const DAYS_PER_MONTH_MIN = 28;

const MONTH_BYTES = 8;
/** The month of the date that was written last: most dates follow one of the same month. */
const month = { first: 0, end: 0, text: new Uint8Array(MONTH_BYTES) };

/** The same text as `printDay`. */
export function writeDay(day: Day, to: Uint8Array, at: number): number {
  if (day < month.first || day >= month.end) {
    if (day < -DAYS_BEFORE_1970) return writeAscii(printDay(day), to, at);
    setMonth(day);
  }
  const { text } = month;
  for (let i = 0; i < MONTH_BYTES; i++) to[at + i] = text[i]!;
  writeTwo(day - month.first + 1, to, at + MONTH_BYTES);
  return at + DAY_BYTES;
}

/**
 * Years begin in March, so that the leap day is the last one
 * (https://howardhinnant.github.io/date_algorithms.html#civil_from_days).
 */
function setMonth(day: Day): void {
  const days = day + DAYS_BEFORE_1970;
  const era = (days / DAYS_PER_ERA) | 0;
  const dayOfEra = days - era * DAYS_PER_ERA;
  const leapDays = ((dayOfEra / 1_460) | 0) - ((dayOfEra / 36_524) | 0) + ((dayOfEra / 146_096) | 0);
  const yearOfEra = ((dayOfEra - leapDays) / 365) | 0;
  const dayOfYear = dayOfEra - (365 * yearOfEra + (yearOfEra >> 2) - ((yearOfEra / 100) | 0));
  const monthFromMarch = ((5 * dayOfYear + 2) / 153) | 0;
  const number = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (number <= 2 ? 1 : 0);
  const start = ((153 * monthFromMarch + 2) / 5) | 0;
  month.first = day - (dayOfYear - start);
  month.end = month.first + DAYS_PER_MONTH_MIN;
  const century = (year / 100) | 0;
  writeTwo(century, month.text, 0);
  writeTwo(year - century * 100, month.text, 2);
  month.text[4] = MINUS;
  writeTwo(number, month.text, 5);
  month.text[7] = MINUS;
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
