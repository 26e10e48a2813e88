import { decimalOf } from '../decimal.ts';
import { CONVERTED_DIGITS, type Ratio, roundAt, roundTo } from '../ratio.ts';

/** Prices are exact to this many significant digits, and so is a mean. */
const SIGNIFICANT_MAX = 15;

/** Integers below this are exact in a float64. */
const EXACT_BELOW = 1e15;

const PLACES_MAX = 15;
const POWERS = Array.from({ length: PLACES_MAX + 1 }, (_, i) => 10 ** i);

/**
 * The exact mean, rounded once, half away from zero: to `places` decimals or to the decimals of the values, whichever are
 * more, but at most to 15 significant digits. The mean of one value is the value.
 */
export function mean(values: readonly number[], places: number): number {
  if (values.length === 1) return values[0]!;
  const scale = commonPlaces(values, places);
  const sum = scale === undefined ? Number.NaN : sumAt(values, scale);
  // Unlikely: a price with more than 15 digits, or prices of very different sizes.
  if (scale === undefined || Number.isNaN(sum)) return meanOfAny(values, places);
  return roundedQuotient(sum, values.length) / POWERS[scale]!;
}

/** The exact mean, rounded once, half away from zero, to a number of significant digits. */
export function meanTo(values: readonly number[], significant: number): number {
  return roundedMeanTo(exactSum(values), values.length, significant);
}

/** How the closes of a series are rounded: its decimals, and whether a conversion has already rounded them. */
export interface CloseDigits {
  decimals: number;
  isConverted: boolean;
}

/** Whether a conversion has rounded a close. A factor of 1 keeps all digits. */
export function isConverted({ factor }: { factor?: { isOne: boolean } | undefined }): boolean {
  return factor !== undefined && !factor.isOne;
}

/** The exact mean of closes, rounded once: to 8 significant digits if they are converted. */
export function meanOfCloses(closes: readonly number[], { decimals, isConverted }: CloseDigits): number {
  return isConverted ? meanTo(closes, CONVERTED_DIGITS) : mean(closes, decimals);
}

/**
 * The mean of `count` values whose sum is known, rounded as `mean` does, but to the decimals of the sum: 0.16 and 0.14 have two, and
 * their sum one. The mean of one value is the value.
 */
export function meanOfSum(sum: number, count: number, places: number): number {
  if (count === 1) return sum;
  const exact = exactSum([sum]);
  return roundedMean(exact, count, Math.max(places, exact.scale));
}

function meanOfAny(values: readonly number[], places: number): number {
  const exact = exactSum(values);
  return roundedMean(exact, values.length, Math.max(places, exact.scale));
}

/** A sum of decimals: `sum` × 10^−`scale`. */
export interface ExactSum {
  sum: bigint;
  scale: number;
}

/** The mean of `count` values, rounded once: to `places` decimals, but at most to 15 significant digits. */
export function roundedMean(sum: ExactSum, count: number, places: number): number {
  const ratio = quotient(sum, count);
  const rounded = roundAt(ratio, places);
  const digits = rounded.replace(/[-.]/g, '').replace(/^0+/, '').length;
  return Number(digits <= SIGNIFICANT_MAX ? rounded : roundTo(ratio, SIGNIFICANT_MAX));
}

/** The mean of `count` values, rounded once to a number of significant digits. */
export function roundedMeanTo(sum: ExactSum, count: number, significant: number): number {
  return Number(roundTo(quotient(sum, count), significant));
}

function quotient({ sum, scale }: ExactSum, count: number): Ratio {
  return { numerator: sum, denominator: BigInt(count) * 10n ** BigInt(scale) };
}

export function exactSum(values: readonly number[]): ExactSum {
  const found = wholeNumbers(values);
  if (!found) return exactSumOfAny(values);
  let sum = 0n;
  let floatSum = 0; // BigInt takes many times as long
  for (let i = 0; i < found.wholes.length; i++) {
    floatSum += found.wholes[i]!;
    if (Math.abs(floatSum) < FLOAT_SUM_MAX) continue;
    sum += BigInt(floatSum);
    floatSum = 0;
  }
  return { sum: sum + BigInt(floatSum), scale: found.scale };
}

/** A sum below this and an integer below 10^15 have a sum that is exact in a float64. */
const FLOAT_SUM_MAX = 8 * EXACT_BELOW;

/** Handles values of any size with integers of any size. */
function exactSumOfAny(values: readonly number[]): ExactSum {
  const decimals = values.map(decimalOf);
  const scale = Math.max(...decimals.map((one) => one.scale));
  let sum = 0n;
  for (const { digits, scale: own } of decimals) sum += digits * 10n ** BigInt(scale - own);
  return { sum, scale };
}

/** All values × 10^`scale`, as exact integers; undefined if one may have more than 15 digits. */
export function wholeNumbers(values: ArrayLike<number>): { wholes: Float64Array; scale: number } | undefined {
  const scale = commonPlaces(values, 0);
  if (scale === undefined) return undefined;
  const wholes = new Float64Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const whole = Math.round(values[i]! * POWERS[scale]!);
    if (!(Math.abs(whole) < EXACT_BELOW)) return undefined;
    wholes[i] = whole;
  }
  return { wholes, scale };
}

/** The smallest number of decimals, at least `least`, that all values have; undefined if one may have more than 15 digits. */
function commonPlaces(values: ArrayLike<number>, least: number): number | undefined {
  let places = least;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    // The quotient of two exact integers is the nearest float, so equality means that these are all its digits.
    while (!(Math.round(value * POWERS[places]!) / POWERS[places]! === value)) {
      if (++places > PLACES_MAX) return undefined;
    }
  }
  return places;
}

/** NaN if a partial sum may not be exact. */
function sumAt(values: readonly number[], places: number): number {
  let sum = 0;
  for (const value of values) {
    sum += Math.round(value * POWERS[places]!);
    if (!(Math.abs(sum) < EXACT_BELOW)) return Number.NaN;
  }
  return sum;
}

/** Rounds half away from zero. Both are integers below 10^15, so the remainder and the quotient without it are exact. */
function roundedQuotient(sum: number, count: number): number {
  const size = Math.abs(sum);
  const rest = size % count;
  const quotient = (size - rest) / count + (rest * 2 >= count ? 1 : 0);
  return (sum < 0 ? -quotient : quotient) + 0; // −0 + 0 is 0
}
