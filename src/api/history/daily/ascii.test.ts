import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { EARLIEST_DAY, LAST_DAY, printDay } from '../../../market/day.ts';
import { printNumber } from '../../../market/decimal.ts';
import { NUMBER_BYTES_MAX, repeatBytes, writeBytes, writeDay, writeNumber } from './ascii.ts';

const START = 3;

function textOf(write: (to: Uint8Array, at: number) => number): string {
  const to = Buffer.alloc(START + NUMBER_BYTES_MAX);
  return to.toString('latin1', START, write(to, START));
}

const decimal = fc
  .tuple(fc.maxSafeInteger(), fc.integer({ min: 0, max: 12 }))
  .map(([digits, places]) => digits / 10 ** places);

/** Around the largest number that is written as a 32-bit integer, too. */
const hundredths = fc.integer({ min: -3_000_000_000, max: 3_000_000_000 }).map((digits) => digits / 100);

test('a number has the same text as printNumber, for decimals and for any float64', () => {
  const property = fc.property(
    fc.oneof(hundredths, decimal, fc.double({ noNaN: true, noDefaultInfinity: true })),
    (value) => expect(textOf((to, at) => writeNumber(value, to, at))).toBe(printNumber(value)),
  );
  fc.assert(property, { numRuns: 20_000 });
  for (const value of [
    0,
    -0,
    5e-324,
    -5e-324,
    1.7976931348623157e308,
    0.1 + 0.2,
    999_999_999_999_999,
    1e15,
    -37.63,
  ]) {
    expect(textOf((to, at) => writeNumber(value, to, at))).toBe(printNumber(value));
  }
});

test('a day has the same text as printDay, for all days of the ledger', () => {
  const to = Buffer.alloc(16);
  for (let day = EARLIEST_DAY; day <= LAST_DAY; day++) {
    if (to.toString('latin1', 0, writeDay(day, to, 0)) !== printDay(day)) throw new Error(printDay(day));
  }
});

test('a day has the same text as printDay, whichever day was written before it', () => {
  const to = Buffer.alloc(16);
  const property = fc.property(fc.array(fc.integer({ min: EARLIEST_DAY, max: LAST_DAY })), (days) => {
    for (const day of days) {
      for (const next of [day, day + 1, day - 40]) {
        expect(to.toString('latin1', 0, writeDay(next, to, 0))).toBe(printDay(next));
      }
    }
  });
  fc.assert(property);
});

test('bytes are copied, and repeated', () => {
  const repeated = textOf((to, at) => repeatBytes(to, at, writeBytes(Buffer.from('12.5'), to, at), at + 4));
  expect(repeated).toBe('12.512.5');
});
