import type { Day } from '../day.ts';
import { decimalOf } from '../decimal.ts';
import { over, type Ratio, ratioOf, roundAt, roundTo } from '../ratio.ts';
import type { UpdateInterval } from '../symbol.ts';
import { type CloseDigits, meanOfCloses, wholeNumbers } from './mean.ts';

/** Significant digits of standard deviations and volatilities, and decimals of drawdowns and correlations. */
const DIGITS = 8;

/** How many returns a year has, by how often a price is published. A price of every minute has one close per trading day. */
export const RETURNS_PER_YEAR: Readonly<Record<UpdateInterval, number>> = {
  minute: 252,
  day: 252,
  week: 52,
  month: 12,
};

/** Closes in order of days, at least one. A logarithm is NaN where the close is not positive. */
export interface CloseSeries {
  days: Int32Array;
  closes: Float64Array;
  logs: Float64Array;
}

export function closeSeries(bars: readonly { day: Day; close: number }[]): CloseSeries {
  const days = new Int32Array(bars.length);
  const closes = new Float64Array(bars.length);
  const logs = new Float64Array(bars.length);
  for (let i = 0; i < bars.length; i++) {
    const { day, close } = bars[i]!;
    days[i] = day;
    closes[i] = close;
    logs[i] = close > 0 ? Math.log(close) : Number.NaN;
  }
  return { days, closes, logs };
}

/** A close and its day. For a minimum or maximum, it is the first day with that close. */
export interface DatedClose {
  value: number;
  day: Day;
}

/** The largest fall below the highest close so far, as a fraction of that close. Without a fall it is 0 and has no days. */
export interface Drawdown {
  size: number;
  peakDay: Day | undefined;
  troughDay: Day | undefined;
}

export interface Statistics {
  count: number;
  last: DatedClose;
  mean: number;
  median: number;
  /** Of the sample. Undefined for one close. */
  standardDeviation: number | undefined;
  /** Annualised. Undefined with fewer than two returns. */
  volatility: number | undefined;
  minimum: DatedClose;
  maximum: DatedClose;
  drawdown: Drawdown;
}

export function statisticsOf(series: CloseSeries, digits: CloseDigits, returnsPerYear: number): Statistics {
  const { days, closes } = series;
  const sorted = closes.toSorted();
  const [minimum, maximum] = [sorted[0]!, sorted.at(-1)!];
  const last = closes.length - 1;
  return {
    count: closes.length,
    last: { value: closes[last]!, day: days[last]! },
    mean: meanOfCloses([...closes], digits),
    median: meanOfCloses([sorted[last >> 1]!, sorted[(last + 1) >> 1]!], digits),
    standardDeviation: standardDeviation(closes),
    volatility: volatility(series, returnsPerYear),
    minimum: { value: minimum, day: days[closes.indexOf(minimum)]! },
    maximum: { value: maximum, day: days[closes.indexOf(maximum)]! },
    drawdown: drawdownOf(series),
  };
}

/** The square root of Σ(x − mean)² / (n − 1): exact until it is rounded to 8 significant digits. */
function standardDeviation(values: Float64Array): number | undefined {
  const count = BigInt(values.length);
  if (count < 2n) return undefined;
  const { sum, squares, scale } = exactSums(values);
  const numerator = count * squares - sum * sum;
  const denominator = count * (count - 1n) * 10n ** BigInt(2 * scale);
  return Number(roundedRoot({ numerator, denominator }));
}

/** The sum of values × 10^scale, and of the squares of these integers. */
interface ExactSums {
  sum: bigint;
  squares: bigint;
  scale: number;
}

/** The square of such an integer, and the sum of two squares, are exact in a float64. */
const SQUARED_BELOW = 2 ** 26;

function exactSums(values: Float64Array): ExactSums {
  const found = wholeNumbers(values);
  if (!found) return exactSumsOfAny(values);
  const { wholes, scale } = found;
  let [sum, squares] = [0n, 0n];
  let [floatSum, floatSquares] = [0, 0]; // BigInt takes many times as long
  for (let i = 0; i < wholes.length; i++) {
    const whole = wholes[i]!;
    if (Math.abs(whole) < SQUARED_BELOW) {
      floatSum += whole;
      floatSquares += whole * whole;
      if (floatSquares < SQUARED_BELOW ** 2) continue;
      sum += BigInt(floatSum);
      squares += BigInt(floatSquares);
      [floatSum, floatSquares] = [0, 0];
    } else {
      const exact = BigInt(whole);
      sum += exact;
      squares += exact * exact;
    }
  }
  return { sum: sum + BigInt(floatSum), squares: squares + BigInt(floatSquares), scale };
}

/** Handles values of any size with integers of any size. */
function exactSumsOfAny(values: Float64Array): ExactSums {
  const decimals = Array.from(values, decimalOf);
  const scale = Math.max(...decimals.map((one) => one.scale));
  let [sum, squares] = [0n, 0n];
  for (const { digits, scale: own } of decimals) {
    const whole = own === scale ? digits : digits * 10n ** BigInt(scale - own);
    sum += whole;
    squares += whole * whole;
  }
  return { sum, squares, scale };
}

/** Decimals of a root before it is rounded. */
const ROOT_PLACES = 40n;

function roundedRoot({ numerator, denominator }: Ratio): string {
  const root = squareRoot((numerator * 10n ** (2n * ROOT_PLACES)) / denominator);
  return roundTo({ numerator: root, denominator: 10n ** ROOT_PLACES }, DIGITS);
}

/** The largest integer whose square is not above `value`, by Newton's method from above. */
function squareRoot(value: bigint): bigint {
  if (value === 0n) return 0n;
  let root = 1n << BigInt((value.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** The standard deviation of log returns × √(returns per year). Returns from or to a close that is not positive are left out. */
function volatility({ logs }: CloseSeries, returnsPerYear: number): number | undefined {
  const returns = new Float64Array(logs.length);
  let count = 0;
  for (let i = 1; i < logs.length; i++) {
    const change = logs[i]! - logs[i - 1]!;
    if (!Number.isNaN(change)) returns[count++] = change;
  }
  if (count < 2) return undefined;
  const fromMean = deviations(returns.subarray(0, count));
  const variance = sumOfProducts(fromMean, fromMean) / (count - 1);
  return Number((Math.sqrt(variance) * Math.sqrt(returnsPerYear)).toPrecision(DIGITS));
}

/** Differences of logarithms have errors of about 2 × 10⁻¹⁵. */
const RETURN_ERROR_MAX = 1e-14;

/** The differences of returns from their mean; all 0 if they differ only by rounding errors. */
function deviations(returns: Float64Array): Float64Array {
  let sum = 0;
  for (let i = 0; i < returns.length; i++) sum += returns[i]!;
  const center = sum / returns.length;
  const found = new Float64Array(returns.length);
  let largest = 0;
  for (let i = 0; i < returns.length; i++) {
    const deviation = returns[i]! - center;
    found[i] = deviation;
    largest = Math.max(largest, Math.abs(deviation));
  }
  return largest < RETURN_ERROR_MAX ? found.fill(0) : found;
}

function sumOfProducts(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

function drawdownOf({ days, closes }: CloseSeries): Drawdown {
  let peak = 0;
  let [highest, lowest] = [1, 1]; // closes before and after the largest fall; equal while there is none
  let [peakDay, troughDay]: [Day | undefined, Day | undefined] = [undefined, undefined];
  for (let i = 1; i < closes.length; i++) {
    const low = closes[i]!;
    const high = closes[peak]!;
    if (low > high) peak = i;
    else if (high > 0 && isDeeper(low, high, lowest, highest)) {
      [highest, lowest, peakDay, troughDay] = [high, low, days[peak], days[i]];
    }
  }
  const { numerator, denominator } = over(ratioOf(lowest), ratioOf(highest));
  const size = Number(roundAt({ numerator: denominator - numerator, denominator }, DIGITS));
  return { size, peakDay, troughDay };
}

/** Whether low / high < lowest / highest. Fractions that floats cannot tell apart are compared exactly. */
function isDeeper(low: number, high: number, lowest: number, highest: number): boolean {
  if (low === lowest && high === highest) return false; // a price that stays where it is after its largest fall
  const fraction = low / high;
  const deepest = lowest / highest;
  if (Math.abs(fraction - deepest) > 1e-12 * (1 + Math.abs(deepest))) return fraction < deepest;
  const [a, b] = [over(ratioOf(low), ratioOf(high)), over(ratioOf(lowest), ratioOf(highest))];
  return a.numerator * b.denominator < b.numerator * a.denominator;
}

/**
 * Pearson's correlation of the log returns between consecutive days on which both have a close; returns from or to a close
 * that is not positive are left out. Undefined with fewer than two returns, or if one of them never changes.
 */
export function correlation(a: CloseSeries, b: CloseSeries): number | undefined {
  const [x, y] = commonReturns(a, b);
  if (x.length < 2) return undefined;
  const [fromX, fromY] = [deviations(x), deviations(y)];
  const size = Math.sqrt(sumOfProducts(fromX, fromX)) * Math.sqrt(sumOfProducts(fromY, fromY));
  if (size === 0) return undefined;
  return Number(Math.max(-1, Math.min(1, sumOfProducts(fromX, fromY) / size)).toFixed(DIGITS));
}

function commonReturns(a: CloseSeries, b: CloseSeries): [Float64Array, Float64Array] {
  const countMax = Math.min(a.days.length, b.days.length);
  const [x, y] = [new Float64Array(countMax), new Float64Array(countMax)];
  let count = 0;
  let [lastA, lastB] = [Number.NaN, Number.NaN];
  for (let i = 0, j = 0; i < a.days.length && j < b.days.length; ) {
    const difference = a.days[i]! - b.days[j]!;
    if (difference === 0) {
      const dx = a.logs[i]! - lastA;
      const dy = b.logs[j]! - lastB;
      if (!Number.isNaN(dx) && !Number.isNaN(dy)) {
        x[count] = dx;
        y[count++] = dy;
      }
      lastA = a.logs[i]!;
      lastB = b.logs[j]!;
    }
    if (difference <= 0) i++;
    if (difference >= 0) j++;
  }
  return [x.subarray(0, count), y.subarray(0, count)];
}
