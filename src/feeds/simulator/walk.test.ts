import { expect, test } from 'bun:test';
import fc from 'fast-check';
import catalog from '../../ledger/catalog/symbols.json';
import { type Day, dayOf } from '../../market/day.ts';
import { isTradingDay, tradingDays } from './calendar.ts';
import { barsOf, FIRST_SIMULATED_DAY, walkOf } from './walk.ts';

const LAST = dayOf(2026, 11, 13)!;
const aDay = fc.integer({ min: FIRST_SIMULATED_DAY, max: LAST + 3000 });
const aWalk = fc.oneof(
  fc.constantFrom(...catalog).map(walkOf),
  fc.record({
    code: fc.stringMatching(/^[A-Z0-9-]{1,12}$/),
    decimals: fc.integer({ min: 0, max: 6 }),
    level: fc.double({ min: 0.001, max: 1e6, noNaN: true }),
    volatility: fc.double({ min: 0.01, max: 1.5, noNaN: true }),
  }),
);

test('a day has the same bar, whatever range and order it is generated in', () => {
  fc.assert(
    fc.property(aWalk, fc.array(aDay, { minLength: 2, maxLength: 6 }), (walk, days) => {
      const whole = new Map(
        barsOf(walk, FIRST_SIMULATED_DAY, Math.max(...days)).map((bar) => [bar.day, bar]),
      );
      for (const day of days) {
        const alone = barsOf(walk, day, day);
        expect(alone).toEqual(isTradingDay(day) ? [whole.get(day)!] : []);
      }
    }),
    { numRuns: 50 },
  );
});

test('a bar is well formed: positive, low ≤ open, close ≤ high, at the decimals of its symbol', () => {
  fc.assert(
    fc.property(aWalk, aDay, (walk, day) => {
      for (const { open, high, low, close } of barsOf(walk, day, day + 30)) {
        expect(low).toBeGreaterThan(0);
        expect(low).toBeLessThanOrEqual(Math.min(open, close));
        expect(high).toBeGreaterThanOrEqual(Math.max(open, close));
        for (const price of [open, high, low, close])
          expect(Number(price.toFixed(walk.decimals))).toBe(price);
      }
    }),
    { numRuns: 200 },
  );
});

test('the first prices of gold are the same on every machine', () => {
  expect(barsOf(walkOf({ code: 'XAU', decimals: 2 }), FIRST_SIMULATED_DAY, FIRST_SIMULATED_DAY + 2)).toEqual([
    { day: dayOf(2015, 1, 2)!, open: 3672.3, high: 3698.91, low: 3649.11, close: 3681.66 },
  ]);
});

test('every symbol of the catalogue has its own level, and more than ten years around it', () => {
  const days: readonly Day[] = tradingDays(FIRST_SIMULATED_DAY, LAST);
  expect(days.length).toBeGreaterThan(10 * 252);
  for (const symbol of catalog) {
    const walk = walkOf(symbol);
    expect(walk).not.toMatchObject({ level: 100, volatility: 0.25 });
    const bars = barsOf(walk, FIRST_SIMULATED_DAY, LAST);
    expect(bars.map((bar) => bar.day)).toEqual([...days]);
    for (const { close } of bars) {
      expect(close).toBeGreaterThan(walk.level / 10);
      expect(close).toBeLessThan(walk.level * 10);
    }
  }
});

test('returns have the configured volatility', () => {
  const walk = { code: 'ANY', decimals: 6, level: 100, volatility: 0.3 };
  const closes = barsOf(walk, FIRST_SIMULATED_DAY, LAST).map((bar) => bar.close);
  const returns = closes.slice(1).map((close, i) => Math.log(close / closes[i]!));
  const variance = returns.reduce((sum, r) => sum + r * r, 0) / returns.length;
  expect(Math.sqrt(variance * 252)).toBeCloseTo(0.3, 1);
});

test('a symbol that an operator added fluctuates around 100', () => {
  expect(walkOf({ code: 'HOUSE-BLEND', decimals: 1 })).toEqual({
    code: 'HOUSE-BLEND',
    decimals: 1,
    level: 100,
    volatility: 0.25,
  });
});
