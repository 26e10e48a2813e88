import { decimalOf, divideHalfAway, print } from './decimal.ts';

/** An exact factor. Prices are multiplied by it, and the product is rounded once. The denominator is positive. */
export interface Ratio {
  numerator: bigint;
  denominator: bigint;
}

export const ONE: Ratio = { numerator: 1n, denominator: 1n };

/** The exact ratio of a decimal number, by its shortest digits. */
export function ratioOf(value: number): Ratio {
  const { digits, scale } = decimalOf(value);
  return { numerator: digits, denominator: 10n ** BigInt(scale) };
}

export function times(a: Ratio, b: Ratio): Ratio {
  return { numerator: a.numerator * b.numerator, denominator: a.denominator * b.denominator };
}

/** a / b; b is not 0. */
export function over(a: Ratio, b: Ratio): Ratio {
  const numerator = a.numerator * b.denominator;
  const denominator = a.denominator * b.numerator;
  return denominator < 0n ? { numerator: -numerator, denominator: -denominator } : { numerator, denominator };
}

export function isOne({ numerator, denominator }: Ratio): boolean {
  return numerator === denominator;
}

/** Rounds half away from zero to a number of significant digits; returns decimal text. */
export function roundTo({ numerator, denominator }: Ratio, significant: number): string {
  if (numerator === 0n) return '0';
  const magnitude = numerator < 0n ? -numerator : numerator;
  const places = significant - 1 - exponentOf(magnitude, denominator);
  if (places >= 0) {
    return print({ digits: divideHalfAway(numerator * 10n ** BigInt(places), denominator), scale: places });
  }
  const unit = 10n ** BigInt(-places);
  return print({ digits: divideHalfAway(numerator, denominator * unit) * unit, scale: 0 });
}

/** Rounds half away from zero to a number of decimals; returns decimal text. */
export function roundAt({ numerator, denominator }: Ratio, places: number): string {
  return print({ digits: divideHalfAway(numerator * 10n ** BigInt(places), denominator), scale: places });
}

/** Significant digits of converted numbers. */
export const CONVERTED_DIGITS = 8;

/** value × factor, rounded once to 8 significant digits. A factor of 1 keeps all digits. */
export function converted(value: number, factor: Ratio): number {
  if (isOne(factor)) return value;
  return Number(roundTo(times(ratioOf(value), factor), CONVERTED_DIGITS));
}

/** A factor that many prices are multiplied by. */
export class Multiplier {
  readonly ratio: Ratio;
  readonly #approximate: number;
  readonly #isOne: boolean;

  constructor(ratio: Ratio) {
    this.ratio = ratio;
    this.#isOne = isOne(ratio);
    this.#approximate = Number(ratio.numerator) / Number(ratio.denominator);
  }

  get isOne(): boolean {
    return this.#isOne;
  }

  /** The product with an error below 2 × 10⁻¹⁵ of it, not rounded. */
  estimate(value: number): number {
    return value * this.#approximate;
  }

  /**
   * Like `converted`, but much faster. A float product is correct to 15 digits, which is enough to round it unless it is
   * within a millionth of the midpoint between two results; then exact arithmetic decides.
   */
  apply(value: number): number {
    if (this.#isOne) return value;
    return roundSurely(value * this.#approximate) ?? converted(value, this.ratio);
  }
}

/** Powers of ten that a float64 holds exactly. */
const POWERS = Array.from({ length: 23 }, (_, i) => Number(`1e${i}`));
const LEAST = 10 ** (CONVERTED_DIGITS - 1);
/** The error of the product is below 2 × 10⁻¹⁵, and so below 2 × 10⁻⁷ of the last digit. */
const DOUBT = 1e-6;

/** A float rounded to 8 digits; undefined when its own error could change them. */
function roundSurely(product: number): number | undefined {
  const size = Math.abs(product);
  if (!(size > 1e-12 && size < 1e15)) return undefined;
  let places = CONVERTED_DIGITS - 1 - Math.floor(Math.log10(size));
  let scaled = scale(size, places);
  if (scaled < LEAST) scaled = scale(size, ++places);
  else if (scaled >= 10 * LEAST) scaled = scale(size, --places);
  const whole = Math.floor(scaled);
  const rest = scaled - whole;
  if (Math.abs(rest - 0.5) < DOUBT) return undefined;
  // Both are whole numbers that a float holds exactly, so their quotient or product is the nearest float.
  const rounded = scale(rest < 0.5 ? whole : whole + 1, -places);
  return product < 0 ? -rounded : rounded;
}

function scale(value: number, places: number): number {
  return places >= 0 ? value * POWERS[places]! : value / POWERS[-places]!;
}

/** The place of the first digit of a quotient: 0 for 1 to 9.99…, 2 for 100 to 999.99…, −1 for 0.1 to 0.99…. */
function exponentOf(numerator: bigint, denominator: bigint): number {
  const guess = numerator.toString().length - denominator.toString().length; // it, or one too many
  const [a, b] =
    guess >= 0
      ? [numerator, denominator * 10n ** BigInt(guess)]
      : [numerator * 10n ** BigInt(-guess), denominator];
  return a >= b ? guess : guess - 1;
}
