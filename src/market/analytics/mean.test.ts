import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { mean, meanTo } from './mean.ts';

/** A price as text, of 1 to 15 digits, and the same price as a fraction. */
const price = fc
  .tuple(fc.integer({ min: -999_999_999, max: 999_999_999 }), fc.integer({ min: 0, max: 9 }))
  .map(([digits, scale]) => ({ value: Number(`${digits}e-${scale}`), digits: BigInt(digits), scale }));

/** Rounds half away from zero by comparing remainders; shares nothing with the code under test. */
function rounded(numerator: bigint, denominator: bigint): bigint {
  const size = numerator < 0n ? -numerator : numerator;
  const quotient = size / denominator + ((size % denominator) * 2n >= denominator ? 1n : 0n);
  return numerator < 0n ? -quotient : quotient;
}

function decimalsOf({ digits, scale }: { digits: bigint; scale: number }): number {
  let places = scale;
  for (let rest = digits; places > 0 && rest % 10n === 0n; rest /= 10n) places--;
  return places;
}

test('a mean is the exact mean, rounded once to the decimals of the prices or of the symbol', () => {
  fc.assert(
    fc.property(
      fc.array(price, { minLength: 1, maxLength: 70 }),
      fc.integer({ min: 0, max: 6 }),
      (prices, least) => {
        const values = prices.map(({ value }) => value);
        const places = Math.max(least, ...prices.map(decimalsOf));
        const sum = prices.reduce(
          (total, { digits, scale }) => total + digits * 10n ** BigInt(9 - scale),
          0n,
        );
        const whole = rounded(sum * 10n ** BigInt(places), BigInt(values.length) * 10n ** 9n);
        fc.pre(String(whole).replace('-', '').length <= 15); // larger ones are rounded to 15 digits
        const expected = values.length === 1 ? values[0]! : Number(`${whole}e-${places}`);
        expect(mean(values, least)).toBe(expected + 0);
      },
    ),
    { numRuns: 2_000 },
  );
});

test('a mean to significant digits is the exact mean, rounded once', () => {
  fc.assert(
    fc.property(fc.array(price, { minLength: 1, maxLength: 30 }), (prices) => {
      const sum = prices.reduce((total, { digits, scale }) => total + digits * 10n ** BigInt(9 - scale), 0n);
      fc.pre(sum !== 0n);
      const result = meanTo(
        prices.map(({ value }) => value),
        8,
      );
      // |result − mean| ≤ half a unit of the eighth digit
      const [digits = '', exponent = '0'] = result.toExponential(7).split('e');
      const shown = BigInt(digits.replace('.', '')); // × 10^(exponent − 7)
      const power = Number(exponent) - 7;
      const [a, b] = [BigInt(prices.length) * 10n ** 9n, 10n ** BigInt(Math.abs(power))];
      const error = power >= 0 ? shown * b * a - sum : shown * a - sum * b;
      const half = power >= 0 ? b * a : a;
      expect((error < 0n ? -error : error) * 2n <= half).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test('a half is rounded away from zero, and a mean of one price is that price', () => {
  expect(mean([1, 2], 0)).toBe(2);
  expect(mean([-1, -2], 0)).toBe(-2);
  expect(mean([0.1, 0.2], 2)).toBe(0.15);
  expect(mean([0.1, 0.2], 1)).toBe(0.2);
  expect(mean([0, -1, 0], 0)).toBe(0);
  expect(mean([0.12345678901234566], 2)).toBe(0.12345678901234566);
});

test('prices of very different sizes are averaged exactly, and rounded to 15 digits', () => {
  expect(mean([999_999_999_999_999, 0.000001], 2)).toBe(500_000_000_000_000);
  expect(mean([1e21, 3e21], 2)).toBe(2e21);
  expect(mean([1e-12, 3e-12], 2)).toBe(2e-12);
  expect(mean([900_000_000_000_000, 900_000_000_000_000, -900_000_000_000_000], 0)).toBe(300_000_000_000_000);
});
