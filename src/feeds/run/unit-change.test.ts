import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { day, flat } from '../../../test/support/ledgers.ts';
import { findUnitChange } from './unit-change.ts';

const MONDAY = day('2026-07-13');
const bars = (...closes: number[]) => closes.map((close, i) => ({ day: MONDAY + i, ...flat(close) }));
const none = new Map<number, number>();

test.each([
  ['cents', [4, 4.1, 405], '2026-07-14 is 4.1 and 2026-07-15 is 405, a jump by about 100'],
  ['dollars again', [410, 4.2], '2026-07-13 is 410 and 2026-07-14 is 4.2, a jump by about 100'],
  ['an ounce for a gram', [128, 4000], 'a jump by about 31.1'],
  ['a tonne for a kilogram', [2.4, 2412], 'a jump by about 1000'],
  ['an ounce for a tonne', [128_000_000, 3_981], 'a jump by about 32150.7'],
  ['a tonne for a pound', [4.1, 9039], 'a jump by about 2204.6'],
  ['also where prices are below zero', [-4, -400], 'a jump by about 100'],
])('%s', (_, closes, message) => {
  expect(findUnitChange(bars(...closes), none)).toContain(message);
});

test.each([
  ['a crash through zero and back', [18.31, -36.98, 8.91]],
  ['a zero', [0, 100, 0]],
  ['a day that doubles, and one that is a tenth', [2, 4, 0.4, 4]],
  ['nothing', []],
])('%s is no change of unit', (_, closes) => {
  expect(findUnitChange(bars(...closes), none)).toBeUndefined();
});

test('prices after those of the ledger are compared with its last, those before with its first', () => {
  const known = new Map([[MONDAY, 40]]);
  expect(findUnitChange([{ day: MONDAY + 3, ...flat(4000) }], known)).toContain(
    '2026-07-13 is 40 and 2026-07-16',
  );
  expect(findUnitChange([{ day: MONDAY - 3, ...flat(4000) }], known)).toContain(
    '2026-07-10 is 4000 and 2026-07-13',
  );
  expect(findUnitChange([{ day: MONDAY, ...flat(4000) }], known)).toContain('was 40 and is now 4000');
});

test('prices that the ledger already has are not questioned again', () => {
  const known = new Map([
    [MONDAY, 40],
    [MONDAY + 1, 4000],
  ]);
  expect(findUnitChange([{ day: MONDAY + 2, ...flat(4001) }], known)).toBeUndefined();
  expect(findUnitChange([{ day: MONDAY - 1, ...flat(41) }], known)).toBeUndefined();
  expect(findUnitChange(bars(40, 4000, 4001), known)).toBeUndefined(); // a body that says it all again
});

test('a series that moves by less than a factor of 25 a day is never suspect', () => {
  const moves = fc.array(fc.double({ min: 0.04, max: 25, noNaN: true }), { maxLength: 50 });
  fc.assert(
    fc.property(moves, (factors) => {
      let price = 50;
      const closes = factors.map((factor) => {
        price = Math.min(Math.max(price * factor, 1e-3), 1e6);
        return price;
      });
      expect(findUnitChange(bars(...closes), none)).toBeUndefined();
    }),
  );
});
