import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { fixedLog, logOfQuotient } from './log.ts';
import { transformed } from './transform.ts';

/** A price and its digits: value = digits × 10^−6. */
const price = fc
  .integer({ min: -99_999_999_999, max: 99_999_999_999 })
  .map((digits) => ({ value: Number(`${digits}e-6`), digits: BigInt(digits) }));
const positive = price.filter(({ digits }) => digits > 0n);

/** numerator / denominator × 10^places, rounded half away from zero by comparing the remainder. */
function scaled(numerator: bigint, denominator: bigint, places: number): bigint {
  const sign = numerator < 0n === denominator < 0n ? 1n : -1n;
  const [n, d] = [abs(numerator) * 10n ** BigInt(places), abs(denominator)];
  return sign * (n / d + ((n % d) * 2n >= d ? 1n : 0n));
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** Decimal text × 10^places. */
function digitsAt(text: string, places: number): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  expect(fraction.length).toBeLessThanOrEqual(places);
  expect(text).toMatch(/^-?\d+(\.\d*[1-9])?$/);
  return BigInt(whole + fraction.padEnd(places, '0'));
}

describe('compared with exact rational arithmetic', () => {
  test('a change is the exact difference', () => {
    fc.assert(
      fc.property(price, price, (base, { value, digits }) => {
        expect(digitsAt(transformed('change', base.value, value)!, 6)).toBe(digits - base.digits);
      }),
      { numRuns: 1_000 },
    );
  });

  test('a percentage is relative to the size of the base, rounded once to 4 decimals', () => {
    fc.assert(
      fc.property(price, price, (base, { value, digits }) => {
        const text = transformed('percent', base.value, value);
        if (base.digits === 0n) return expect(text).toBeUndefined();
        const expected = scaled((digits - base.digits) * 100n, abs(base.digits), 4);
        expect(digitsAt(text!, 4)).toBe(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  test('an index is 100 at its base, and is rounded once to 4 decimals', () => {
    fc.assert(
      fc.property(price, price, (base, { value, digits }) => {
        const text = transformed('index', base.value, value);
        if (base.digits === 0n) return expect(text).toBeUndefined();
        expect(digitsAt(text!, 4)).toBe(scaled(digits * 100n, base.digits, 4));
        expect(transformed('index', base.value, base.value)).toBe('100');
      }),
      { numRuns: 1_000 },
    );
  });

  test('a logarithm is within half a unit of its tenth decimal, by a series of exact fractions', () => {
    fc.assert(
      fc.property(positive, positive, (base, { value, digits }) => {
        const text = transformed('log', base.value, value)!;
        const error = logarithm(digits, base.digits) - digitsAt(text, 10) * 10n ** 30n;
        expect(abs(error) <= 5n * 10n ** 29n + 10n).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

/**
 * ln(n / d) × 10^40 by halving the argument: ln x = 2^k × ln(x^(1/2^k)), with integer square roots, and the series of
 * ln(1 + y). Shares nothing with the code under test.
 */
function logarithm(n: bigint, d: bigint): bigint {
  const unit = 10n ** 80n;
  let root = (n * unit) / d;
  let halvings = 0n;
  while (abs(root - unit) > unit / 1000n) {
    root = squareRoot(root * unit);
    halvings++;
  }
  const y = root - unit;
  let [power, sum] = [y, 0n];
  for (let k = 1n; power !== 0n; k++) {
    sum += (k % 2n === 1n ? power : -power) / k;
    power = (power * y) / unit;
  }
  return ((sum << halvings) * 10n ** 40n) / unit;
}

function squareRoot(value: bigint): bigint {
  let root = 1n << BigInt((value.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

describe('a logarithm', () => {
  test('needs two positive prices', () => {
    expect(transformed('log', 18.31, -36.98)).toBeUndefined();
    expect(transformed('log', -36.98, -36.98)).toBeUndefined();
    expect(transformed('log', 0, 1)).toBeUndefined();
    expect(transformed('log', 5, 5)).toBe('0');
    expect(transformed('log', 1, 2)).toBe('0.6931471806');
    expect(transformed('log', 2, 1)).toBe('-0.6931471806');
  });

  test('is decided by exact arithmetic where a float is in doubt', () => {
    fc.assert(
      fc.property(positive, positive, (a, b) => {
        // 20 decimals: a float never suffices
        const text = logOfQuotient(a.value, b.value, 20);
        const ratio = { numerator: a.digits, denominator: b.digits };
        const error = fixedLog(ratio) - digitsAt(text, 20) * 10n ** 20n;
        expect(abs(error) <= 5n * 10n ** 19n).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
