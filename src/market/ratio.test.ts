import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseNumber } from './decimal.ts';
import { converted, isOne, Multiplier, ONE, over, type Ratio, ratioOf, roundTo, times } from './ratio.ts';

/** A price as feeds bring it: up to 15 significant digits. */
const price = fc
  .tuple(fc.integer({ min: -(10 ** 15) + 1, max: 10 ** 15 - 1 }), fc.integer({ min: 0, max: 12 }))
  .map(([digits, scale]) => parseNumber(`${digits}e-${scale}`)!);
const factor = fc
  .tuple(fc.integer({ min: 1, max: 10 ** 9 }), fc.integer({ min: 1, max: 10 ** 9 }))
  .map(([n, d]): Ratio => ({ numerator: BigInt(n), denominator: BigInt(d) }));

describe('rounding a ratio', () => {
  const cases: [n: number, d: number, digits: number, text: string][] = [
    [1, 3, 8, '0.33333333'],
    [2, 3, 8, '0.66666667'],
    [-2, 3, 8, '-0.66666667'],
    [1, 1, 8, '1'],
    [0, 7, 8, '0'],
    [123_456_785, 1, 8, '123456790'], // half goes away from zero
    [-123_456_785, 1, 8, '-123456790'],
    [123_456_784, 1, 8, '123456780'],
    [999_999_995, 1, 8, '1000000000'], // the carry makes a digit more
    [1, 1_000_000_000, 8, '0.000000001'],
    [99_999_999, 100_000_000, 8, '0.99999999'],
    [10, 1, 1, '10'],
    [15, 10, 1, '2'],
    [25, 10, 1, '3'],
  ];
  for (const [n, d, digits, text] of cases) {
    test(`${n}/${d} to ${digits} digits is ${text}`, () => {
      expect(roundTo({ numerator: BigInt(n), denominator: BigInt(d) }, digits)).toBe(text);
    });
  }

  test('the error is at most half of the last digit, and the digits are no more than asked for', () => {
    fc.assert(
      fc.property(price, factor, fc.integer({ min: 1, max: 15 }), (value, by, digits) => {
        const exact = times(ratioOf(value), by);
        const text = roundTo(exact, digits);
        expect(text.replace(/^-|\./g, '').replace(/^0+|0+$/g, '').length).toBeLessThanOrEqual(digits);
        const rounded = ratioOf(Number(text));
        const error = exact.numerator * rounded.denominator - rounded.numerator * exact.denominator;
        const size = exact.numerator * rounded.denominator;
        // |error| ≤ size × 0.5 × 10^(1 − digits)
        expect(abs(error) * 2n * 10n ** BigInt(digits - 1) <= abs(size)).toBe(true);
      }),
    );
  });
});

describe('conversion', () => {
  test('by 1 is the identity, with all digits', () => {
    fc.assert(
      fc.property(price, factor, (value, by) => {
        expect(converted(value, ONE)).toBe(value);
        expect(isOne(over(by, by))).toBe(true);
        expect(converted(value, over(by, by))).toBe(value);
      }),
    );
  });

  test('the fast way is the exact one, also in the middle between two results', () => {
    fc.assert(
      fc.property(price, factor, (value, by) => {
        expect(new Multiplier(by).apply(value)).toBe(converted(value, by));
      }),
      { numRuns: 5_000 },
    );
    const halves = fc.tuple(fc.integer({ min: 10 ** 7, max: 10 ** 8 - 1 }), fc.integer({ min: -8, max: 12 }));
    const near = fc.constantFrom(0, 1, -1, 1000, -1000);
    fc.assert(
      fc.property(halves, near, fc.integer({ min: 1, max: 999_999 }), ([digits, exponent], off, n) => {
        // 14 digits whose ninth is in the middle, give or take a little.
        const value = digits * 10 ** 6 + 500_000 + off;
        const by = { numerator: BigInt(n), denominator: BigInt(n) * 10n ** BigInt(exponent + 8) };
        expect(new Multiplier(by).apply(value)).toBe(converted(value, by));
        expect(new Multiplier(by).apply(-value)).toBe(converted(-value, by));
      }),
      { numRuns: 5_000 },
    );
  });

  test('there and back is within the rounding of both ways', () => {
    fc.assert(
      fc.property(price, factor, (value, by) => {
        const back = converted(converted(value, by), over(ONE, by));
        expect(Math.abs(back - value)).toBeLessThanOrEqual(Math.abs(value) * 1.01e-7);
      }),
    );
  });

  test('keeps the order of prices: folding before or after is the same', () => {
    fc.assert(
      fc.property(price, price, factor, (a, b, by) => {
        expect(converted(Math.max(a, b), by)).toBe(Math.max(converted(a, by), converted(b, by)));
      }),
    );
  });

  test('is mirrored by the sign', () => {
    fc.assert(
      fc.property(price, factor, (value, by) => {
        expect(converted(-value, by) + 0).toBe(-converted(value, by) + 0);
      }),
    );
  });
});

function abs(n: bigint): bigint {
  return n < 0n ? -n : n;
}
