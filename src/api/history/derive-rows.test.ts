import { expect, test } from 'bun:test';
import type { SourcedBar } from '../../board/series/price-types.ts';
import type { Prices } from '../../board/views/prices.ts';
import type { Derivation } from '../../market/analytics/closes.ts';
import type { Day } from '../../market/day.ts';
import { FORMULA_DAYS_PER_STEP } from '../model/large-answer.ts';
import type { RequestedSymbol } from '../model/price-query.ts';
import { RowDeriver } from './derive-rows.ts';
import { looksFar } from './interval-table.ts';

const SYMBOL = { code: 'A', series: { symbol: { decimals: 2 } } } as unknown as RequestedSymbol;
const CHANGE: Derivation = { transform: 'change', period: 1, moving: undefined };
const INDEX: Derivation = { transform: 'index', period: 1, moving: undefined };

/** Prices that begin on day 0 and have bars on some days. `read` gets the number of days of each read. */
function pricesWith(days: readonly Day[], read: (days: number) => void): Prices {
  const barOf = (day: Day): SourcedBar => ({ day, open: 1, high: 1, low: 1, close: 1, sourceId: 1 });
  const bars = (first: Day, last: Day) => {
    read(last - first + 1);
    return days.filter((day) => day >= first && day <= last).map(barOf);
  };
  return {
    firstDay: () => 0,
    barOnOrBefore: (_: unknown, day: Day, earliest: Day) => bars(earliest, day).at(-1),
    bars: (_: unknown, first: Day, last: Day) => bars(first, last),
  } as unknown as Prices;
}

test('a search for earlier rows pauses after a hundred days, also if a formula has no value for decades', () => {
  for (const [derivation, from] of [
    [CHANGE, 20_000],
    [INDEX, 20_001],
  ] as const) {
    let unpaused = 0;
    let longest = 0;
    const prices = pricesWith([0, 20_000], (days) => {
      unpaused += days;
      longest = Math.max(longest, unpaused);
    });
    const span = { first: 0, last: 20_000, interval: 'day', derivation } as const;
    const reading = RowDeriver.at({ day: from, symbolIndex: 0 }, [SYMBOL], prices, span);
    let pauses = 0;
    for (let step = reading.next(); !step.done; step = reading.next()) {
      pauses++;
      unpaused = 0;
    }
    expect(longest).toBeLessThanOrEqual(FORMULA_DAYS_PER_STEP + 1); // and the day of the cursor itself
    if (derivation === CHANGE) expect(pauses).toBeGreaterThan(20_000 / FORMULA_DAYS_PER_STEP);
  }
});

test('a search that finds a price on every day pauses after fifty of them, and after each symbol', () => {
  const derivation: Derivation = { transform: undefined, period: 1, moving: 500 };
  const span = { first: 1_000, last: 1_001, interval: 'day', derivation } as const;
  for (const count of [1, 7]) {
    let unpaused = 0;
    let longest = 0;
    const prices = {
      firstDay: () => 0,
      barOnOrBefore(_: unknown, day: Day) {
        unpaused++;
        return { day, open: 1, high: 1, low: 1, close: 1, sourceId: 1 };
      },
    } as unknown as Prices;
    const symbols = Array.from({ length: count }, () => SYMBOL);
    const reading = RowDeriver.at({ day: 1_000, symbolIndex: 0 }, symbols, prices, span);
    for (let step = reading.next(); !step.done; step = reading.next()) {
      longest = Math.max(longest, unpaused);
      unpaused = 0;
    }
    longest = Math.max(longest, unpaused);
    expect(longest).toBeLessThanOrEqual(FORMULA_DAYS_PER_STEP + 1); // and the day of the cursor itself
  }
});

test('few rows with a long moving average are many bars if they have many symbols', () => {
  const average: Derivation = { transform: undefined, period: 1, moving: 500 };
  const symbols = (count: number) => Array.from({ length: count }, () => SYMBOL);
  expect(looksFar(symbols(2), { derivation: average })).toBe(false);
  expect(looksFar(symbols(3), { derivation: average })).toBe(true);
  expect(looksFar(symbols(50), { derivation: CHANGE })).toBe(false);
  expect(looksFar(symbols(50), { derivation: undefined })).toBe(false);
});
