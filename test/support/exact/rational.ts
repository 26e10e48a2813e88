/**
 * Exact fractions for tests. They share nothing with the product's arithmetic: digits are read from decimal text, and
 * rounding compares remainders.
 */

/** n / d, with d > 0. */
export interface Rational {
  readonly n: bigint;
  readonly d: bigint;
}

/** A number by its shortest digits. */
export function rational(value: number | bigint): Rational {
  if (typeof value === 'bigint') return { n: value, d: 1n };
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const power = Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  return power >= 0 ? { n: digits * 10n ** BigInt(power), d: 1n } : { n: digits, d: 10n ** BigInt(-power) };
}

/** Denominators of prices are powers of ten, so that one of them is a multiple of the other. */
export function plus(a: Rational, b: Rational): Rational {
  if (a.d % b.d === 0n) return { n: a.n + b.n * (a.d / b.d), d: a.d };
  if (b.d % a.d === 0n) return plus(b, a);
  return { n: a.n * b.d + b.n * a.d, d: a.d * b.d };
}

export function minus(a: Rational, b: Rational): Rational {
  return { n: a.n * b.d - b.n * a.d, d: a.d * b.d };
}

export function timesOf(a: Rational, b: Rational): Rational {
  return { n: a.n * b.n, d: a.d * b.d };
}

/** a / b; undefined if b is 0. */
export function dividedBy(a: Rational, b: Rational): Rational | undefined {
  if (b.n === 0n) return undefined;
  return b.n < 0n ? { n: -a.n * b.d, d: a.d * -b.n } : { n: a.n * b.d, d: a.d * b.n };
}

export function magnitude({ n, d }: Rational): Rational {
  return { n: n < 0n ? -n : n, d };
}

export function isLess(a: Rational, b: Rational): boolean {
  return a.n * b.d < b.n * a.d;
}

export function sumOf(all: readonly Rational[]): Rational {
  return all.reduce(plus, { n: 0n, d: 1n });
}

export function meanOf(all: readonly Rational[]): Rational {
  const { n, d } = sumOf(all);
  return { n, d: d * BigInt(all.length) };
}

/** Rounded half away from zero to `places` decimals, which may be negative. */
export function roundedAt({ n, d }: Rational, places: number): number {
  const [up, down] = [10n ** BigInt(Math.max(0, places)), 10n ** BigInt(Math.max(0, -places))];
  const size = (n < 0n ? -n : n) * up;
  const whole = size / (d * down) + ((size % (d * down)) * 2n >= d * down ? 1n : 0n);
  return Number(`${n < 0n ? -whole : whole}e${-places}`) + 0; // −0 + 0 is 0
}

/** Rounded half away from zero to a number of significant digits. */
export function roundedTo(value: Rational, digits: number): number {
  if (value.n === 0n) return 0;
  const { n, d } = magnitude(value);
  let first = 0; // the place of the first digit
  while (n >= d * 10n ** BigInt(first + 1)) first++;
  while (n * 10n ** BigInt(-Math.min(0, first)) < d) first--;
  return roundedAt(value, digits - 1 - first);
}

/** How many decimals a number has. */
export function decimalsOf(value: number): number {
  let { n, d } = rational(value);
  let places = 0;
  while (n % d !== 0n) {
    n *= 10n;
    places++;
  }
  return places;
}

const ROOT_UNIT = 10n ** 60n;

/** The root of a fraction, cut after 60 decimals, found bit by bit. */
export function rootOf({ n, d }: Rational): Rational {
  const square = (n * ROOT_UNIT * ROOT_UNIT) / d;
  let root = 0n;
  for (let bit = BigInt(square.toString(2).length >> 1); bit >= 0n; bit--) {
    const larger = root | (1n << bit);
    if (larger * larger <= square) root = larger;
  }
  return { n: root, d: ROOT_UNIT };
}

const LOG_UNIT = 10n ** 60n;

/**
 * The natural logarithm of a positive fraction, to 50 decimals: ln x = 2^k × ln(x^(1/2^k)), with roots until x is near 1,
 * and the series of ln(1 + y).
 */
export function logOf({ n, d }: Rational): Rational {
  let root = (n * LOG_UNIT) / d;
  let halvings = 0n;
  for (; root > LOG_UNIT + LOG_UNIT / 4n || root < LOG_UNIT - LOG_UNIT / 4n; halvings++) {
    root = (rootOf({ n: root, d: LOG_UNIT }).n * LOG_UNIT) / ROOT_UNIT;
  }
  const y = root - LOG_UNIT;
  let [power, sum] = [y, 0n];
  for (let k = 1n; power !== 0n; k++) {
    sum += (k % 2n === 1n ? power : -power) / k;
    power = (power * y) / LOG_UNIT;
  }
  return { n: sum << halvings, d: LOG_UNIT };
}
