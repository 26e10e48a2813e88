import { expect, test } from 'bun:test';
import fc from 'fast-check';
import catalog from '../../ledger/catalog/symbols.json';
import { type Day, dayOf, printDay } from '../../market/day.ts';
import type { SymbolRecord } from '../../market/symbol.ts';
import { FIRST_SIMULATED_DAY, tradingDays } from './calendar.ts';
import paths from './paths.json';
import { barsOf, walkOf } from './walk.ts';

const SYMBOLS = catalog as SymbolRecord[];
const LAST = dayOf(2026, 11, 13)!;
const aDay = fc.integer({ min: FIRST_SIMULATED_DAY, max: LAST + 3000 });
const symbolOf = (code: string) => SYMBOLS.find((one) => one.code === code)!;
/** A symbol of the catalogue, or one that an operator added. */
const aSymbol = fc.oneof(
  fc.constantFrom(...SYMBOLS),
  fc.record({
    ...Object.fromEntries(Object.entries(symbolOf('XAU')).map(([name, value]) => [name, fc.constant(value)])),
    code: fc.constantFrom('HOUSE-BLEND', 'A', 'ZZ-9'),
    decimals: fc.integer({ min: 0, max: 6 }),
    updateInterval: fc.constantFrom('minute', 'day', 'week', 'month'),
  }) as unknown as fc.Arbitrary<SymbolRecord>,
);
const aWalk = aSymbol.map(walkOf);

test('a day has the same bar, whatever range and order it is generated in', () => {
  fc.assert(
    fc.property(aWalk, fc.array(aDay, { minLength: 2, maxLength: 6 }), (walk, days) => {
      const whole = new Map(
        barsOf(walk, FIRST_SIMULATED_DAY, Math.max(...days)).map((bar) => [bar.day, bar]),
      );
      for (const day of days) {
        const bar = whole.get(day);
        expect(barsOf(walk, day, day)).toEqual(bar ? [bar] : []);
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

test('the first prices of gold and of oil in cents are the same on every machine', () => {
  const first = (code: string) =>
    barsOf(walkOf(symbolOf(code)), FIRST_SIMULATED_DAY, FIRST_SIMULATED_DAY + 2);
  expect([...first('XAU'), ...first('ZL')]).toEqual([
    { day: dayOf(2015, 1, 2)!, open: 1241.96, high: 1249.88, low: 1236.73, close: 1242.09 },
    { day: dayOf(2015, 1, 2)!, open: 38.28, high: 38.87, low: 38.2, close: 38.41 },
  ]);
});

test('every symbol of the catalogue has a path, and prices at its own interval for more than ten years', () => {
  const days: readonly Day[] = tradingDays(FIRST_SIMULATED_DAY, LAST);
  for (const symbol of SYMBOLS) {
    expect(Object.keys(paths), symbol.code).toContain(symbol.code);
    const dates = barsOf(walkOf(symbol), FIRST_SIMULATED_DAY, LAST).map((bar) => bar.day);
    if (symbol.updateInterval === 'month') {
      expect(dates.every((day) => printDay(day).endsWith('-01'))).toBe(true);
      expect(dates).toHaveLength(11 * 12 + 11);
    } else if (symbol.updateInterval === 'week') {
      const gaps = dates.slice(1).map((day, i) => day - dates[i]!);
      expect(gaps.every((gap) => gap >= 5 && gap <= 9)).toBe(true); // a Thursday before Good Friday
      expect(dates.length).toBeGreaterThan(52 * 11);
    } else expect(dates).toEqual([...days]);
  }
});

test('weekly and monthly prices and exchange rates are single values', () => {
  const rate = { ...symbolOf('XAU'), code: 'EUR/USD', status: 'currency', updateInterval: 'day' } as const;
  for (const symbol of [symbolOf('BANANA-EU'), symbolOf('AMMONIA'), rate]) {
    for (const { open, high, low, close } of barsOf(walkOf(symbol), LAST - 100, LAST))
      expect([open, high, low]).toEqual([close, close, close]);
  }
});

test('a symbol that an operator added fluctuates around 100, with a volatility of 25 %', () => {
  const walk = walkOf({ ...symbolOf('XAU'), code: 'HOUSE-BLEND', decimals: 6 });
  const closes = barsOf(walk, FIRST_SIMULATED_DAY, LAST).map((bar) => bar.close);
  const returns = closes.slice(1).map((close, i) => Math.log(close / closes[i]!));
  const variance = returns.reduce((sum, r) => sum + r * r, 0) / returns.length;
  expect(Math.sqrt(variance * 252)).toBeCloseTo(0.25, 1);
  for (const close of closes) {
    expect(close).toBeGreaterThan(60);
    expect(close).toBeLessThan(160);
  }
});
