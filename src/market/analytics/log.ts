import { print, printNumber } from '../decimal.ts';
import { over, type Ratio, ratioOf } from '../ratio.ts';

/** Digits of the exact computation: far more than a result has. */
const DIGITS = 40;
const ONE = 10n ** BigInt(DIGITS);

/** ln(a / b), rounded half away from zero to `places` decimals; both are positive. Returns decimal text. */
export function logOfQuotient(a: number, b: number, places: number): string {
  const estimate = Math.log(a / b);
  const scaled = Math.abs(estimate) * 10 ** places;
  const whole = Math.floor(scaled);
  const rest = scaled - whole;
  // The estimate's error is below 10^-15 × (1 + |estimate|): a ten-thousandth of the tenth decimal.
  const doubt = 1e-14 * 10 ** places * (1 + Math.abs(estimate));
  if (doubt < 0.25 && Math.abs(rest - 0.5) > doubt) {
    const rounded = rest < 0.5 ? whole : whole + 1;
    return printNumber((Math.sign(estimate) * rounded) / 10 ** places);
  }
  const exact = fixedLog(over(ratioOf(a), ratioOf(b)));
  const unit = 10n ** BigInt(DIGITS - places);
  const size = exact < 0n ? -exact : exact;
  const digits = (size + unit / 2n) / unit;
  return print({ digits: exact < 0n ? -digits : digits, scale: places });
}

/** ln(x) × 10^40, with an error of a few units, for a positive x. */
export function fixedLog({ numerator, denominator }: Ratio): bigint {
  let [n, d, twos] = [numerator, denominator, 0n];
  for (; n * 2n < d; twos--) n *= 2n;
  for (; n > d * 2n; twos++) d *= 2n;
  return 2n * inverseTanh(n - d, n + d) + twos * LOG_2;
}

/** artanh(n / d) × 10^40, for |n / d| ≤ 1/3: x + x³/3 + x⁵/5 + … */
function inverseTanh(n: bigint, d: bigint): bigint {
  let power = (n * ONE) / d;
  const square = (power * power) / ONE;
  let sum = 0n;
  for (let k = 1n; power !== 0n; k += 2n) {
    sum += power / k;
    power = (power * square) / ONE;
  }
  return sum;
}

const LOG_2 = 2n * inverseTanh(1n, 3n);
