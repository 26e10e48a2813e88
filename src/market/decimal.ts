/**
 * Exact decimals. A price is a float64 that came from decimal text of at most 15 significant digits, and
 * its shortest representation is that text. Differences and percentages are computed from those digits
 * with integers, so 0.3 − 0.1 is 0.2, and a result is rounded at most once.
 */

/** value = digits × 10^−scale */
export interface Decimal {
  digits: bigint;
  scale: number;
}

/** The shortest decimal text that reads back as the same number; never in exponent form, never "-0". */
export function printNumber(value: number): string {
  const text = String(value);
  if (text.includes('e')) return print(decimalOf(value));
  return text === '-0' ? '0' : text;
}

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i;

/**
 * Parses decimal text; undefined when it is not a number, or one that a float64 cannot hold: 1e400, or 1e-400, which would be 0.
 * "-0" is 0, because the two engines store −0 differently.
 */
export function parseNumber(text: string): number | undefined {
  if (!NUMBER.test(text)) return undefined;
  const value = Number(text) + 0; // −0 + 0 is 0
  if (value === 0) return /^[^e]*[1-9]/i.test(text) ? undefined : 0;
  return Number.isFinite(value) ? value : undefined;
}

/** a − b, exactly, as text. */
export function difference(a: number, b: number): string {
  const scale = Math.max(placesOf(a), placesOf(b));
  const digits = wholeAt(a, scale) - wholeAt(b, scale);
  // The quotient of two integers this small prints exactly.
  if (Math.abs(digits) < EXACT_BELOW) return printNumber(digits / 10 ** scale);
  return print(subtract(decimalOf(a), decimalOf(b)));
}

/** (end − start) / |start| × 100, rounded half away from zero to `places` decimals. A start of 0 gives 0. */
export function percentChange(start: number, end: number, places: number): string {
  if (start === 0) return '0';
  const scale = Math.max(placesOf(start), placesOf(end));
  const [first, last] = [wholeAt(start, scale), wholeAt(end, scale)];
  const parts = Math.abs(last - first) * 10 ** (places + 2);
  const whole = Math.abs(first);
  if (parts < EXACT_BELOW && whole < EXACT_BELOW) {
    const rest = parts % whole; // exact, as is the quotient without it
    const quotient = (parts - rest) / whole + (rest * 2 >= whole ? 1 : 0);
    return printNumber((last < first ? -quotient : quotient) / 10 ** places);
  }
  const from = decimalOf(start);
  const change = subtract(decimalOf(end), from);
  const base = from.digits < 0n ? -from.digits : from.digits;
  // change/base × 100, both brought to whole numbers: digits × 10^(places + 2 + from.scale − change.scale)
  const shift = places + 2 + from.scale - change.scale;
  const numerator = change.digits * 10n ** BigInt(Math.max(shift, 0));
  const denominator = base * 10n ** BigInt(Math.max(-shift, 0));
  return print({ digits: divideHalfAway(numerator, denominator), scale: places });
}

/** Integers below this are exact in a float64. BigInt takes ten times as long. */
const EXACT_BELOW = 1e15;

/** The number of decimals of the shortest representation; NaN in exponent form. */
function placesOf(value: number): number {
  const text = String(value);
  const point = text.indexOf('.');
  if (text.includes('e')) return Number.NaN;
  return point < 0 ? 0 : text.length - point - 1;
}

/** value × 10^scale as an integer; NaN when it may not be exact. */
function wholeAt(value: number, scale: number): number {
  const whole = Math.round(value * 10 ** scale);
  return Math.abs(whole) < EXACT_BELOW ? whole : Number.NaN;
}

/** Prices are exact to this many significant digits. */
const SIGNIFICANT = 15;

/** a × b, rounded once, half away from zero, to 15 significant digits. */
export function product(a: number, b: number): number {
  const [x, y] = [decimalOf(a), decimalOf(b)];
  const digits = x.digits * y.digits;
  const excess = (digits < 0n ? -digits : digits).toString().length - SIGNIFICANT;
  if (excess <= 0) return Number(print({ digits, scale: x.scale + y.scale }));
  const unit = 10n ** BigInt(excess);
  const rounded = divideHalfAway(digits, unit) * unit;
  return Number(print({ digits: rounded, scale: x.scale + y.scale }));
}

/**
 * A price with at most 15 significant digits; further ones are rounded, half away from zero. A sender that computes 0.1 + 0.2
 * means 0.3. Infinite if the rounded number is too large for a float64.
 */
export function roundPrice(value: number): number {
  // The quotient of two exact integers is the nearest float, so equality means that these are all its digits.
  if (Math.abs(value) < 1e9 && Math.round(value * 1e6) / 1e6 === value) return value;
  return Number(value.toPrecision(SIGNIFICANT)) === value ? value : product(value, 1);
}

export function divideHalfAway(numerator: bigint, denominator: bigint): bigint {
  const negative = numerator < 0n;
  const magnitude = negative ? -numerator : numerator;
  const quotient = (2n * magnitude + denominator) / (2n * denominator);
  return negative ? -quotient : quotient;
}

export function decimalOf(value: number): Decimal {
  const [mantissa = '0', exponent = '0'] = String(value).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  const scale = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

function subtract(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { digits: rescale(a, scale) - rescale(b, scale), scale };
}

function rescale(a: Decimal, scale: number): bigint {
  return a.digits * 10n ** BigInt(scale - a.scale);
}

export function print({ digits, scale }: Decimal): string {
  const sign = digits < 0n ? '-' : '';
  const text = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, '0');
  if (scale === 0) return sign + text;
  const whole = text.slice(0, -scale);
  const fraction = text.slice(-scale).replace(/0+$/, '');
  return sign + (fraction ? `${whole}.${fraction}` : whole);
}
