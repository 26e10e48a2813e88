import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { fluctuation } from './fluctuation.ts';

test('crude oil from 18.31 to −36.98 fell by 55.29, which is 301.9661 percent', () => {
  expect(fluctuation(18.31, -36.98)).toEqual({ change: '-55.29', changePercent: '-301.9661' });
});

test('from a negative price, a rise is positive', () => {
  expect(fluctuation(-36.98, 18.31)).toEqual({ change: '55.29', changePercent: '149.5133' });
});

test('a start of zero has a change and no percentage', () => {
  expect(fluctuation(0, -2.5)).toEqual({ change: '-2.5', changePercent: '0' });
});

test('the change and its percentage never point in different directions', () => {
  const cents = fc.integer({ min: -1_000_000, max: 1_000_000 }).map((n) => n / 100);
  fc.assert(
    fc.property(cents, cents, (start, end) => {
      const { change, changePercent } = fluctuation(start, end);
      expect(Math.sign(Number(change))).toBe(Math.sign(end - start));
      expect(Math.sign(Number(changePercent)) * Math.sign(Number(change))).toBeGreaterThanOrEqual(0);
    }),
  );
});
