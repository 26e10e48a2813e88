import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { isConverted, meanOfCloses } from './mean.ts';
import { MovingMean } from './moving-mean.ts';

const DECIMALS = 2;

/** Closes of 1 to 15 digits and any sign, some of them converted. */
const close = fc.record({
  close: fc
    .tuple(
      fc.oneof(
        fc.integer({ min: -99_999, max: 999_999 }),
        fc.integer({ min: 1, max: 999_999_999_999_999 }),
        fc.constant(0),
      ),
      fc.integer({ min: 0, max: 14 }),
    )
    .map(([digits, scale]) => Number(`${digits}e-${scale}`)),
  factor: fc.constantFrom(undefined, undefined, { isOne: true }, { isOne: false }),
});

test('a moving mean is the mean of the last closes, also after closes with more decimals or a conversion', () => {
  fc.assert(
    fc.property(
      fc.array(close, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 12 }),
      (closes, count) => {
        const moving = new MovingMean(count, DECIMALS);
        closes.forEach((one, i) => {
          moving.add(one);
          const last = closes.slice(Math.max(0, i + 1 - count), i + 1);
          const digits = { decimals: DECIMALS, isConverted: count > 1 && last.some(isConverted) };
          const expected = meanOfCloses(
            last.map((row) => row.close),
            digits,
          );
          expect(moving.value()).toBe(last.length < count ? undefined : expected);
        });
      },
    ),
    { numRuns: 1_000 },
  );
});
