import { expect, test } from 'bun:test';
import { FormulaSeries } from '../../board/series/formula-series.ts';
import type { SourcedBar } from '../../board/series/price-types.ts';
import type { SymbolSeries } from '../../board/series/symbol-series.ts';
import type { Prices } from '../../board/views/prices.ts';
import { closeSeries } from '../../market/analytics/statistics.ts';
import type { Day } from '../../market/day.ts';
import { type Formula, parseFormula } from '../../market/formula/parse.ts';
import { FORMULA_DAYS_PER_STEP } from '../model/large-answer.ts';
import { correlate, describeCloses, hasClose } from './describe-closes.ts';
import { finish, type PriceReading } from './price-reading.ts';

const GOLD = { symbol: { decimals: 2, updateInterval: 'day' } } as unknown as SymbolSeries;
const FORMULA = new FormulaSeries(parseFormula('{XAU}*2') as Formula, [{ code: 'XAU', series: GOLD }]);
const DAYS = { first: 0, last: 20_000 };

/** Prices that begin on day 1,000. `read` gets the number of days of each read. */
function pricesOn(days: readonly Day[], read: (days: number) => void): Prices {
  const bars = (_: unknown, first: Day, last: Day): SourcedBar[] => {
    read(last - first + 1);
    const found = days.filter((day) => day >= first && day <= last);
    return found.map((day) => ({ day, open: 1, high: 1, low: 1, close: day, sourceId: 1 }));
  };
  const barOnOrBefore = (series: unknown, day: Day, earliest: Day) => bars(series, earliest, day).at(-1);
  return { firstDay: () => 1_000, barOnOrBefore, bars } as unknown as Prices;
}

/** What a reading returns, and the most days that it reads without a pause. */
function run<T>(days: readonly Day[], reads: (prices: Prices) => PriceReading<T>) {
  let [unpaused, longest] = [0, 0];
  const reading = reads(
    pricesOn(days, (count) => {
      unpaused += count;
      longest = Math.max(longest, unpaused);
    }),
  );
  for (let step = reading.next(); ; step = reading.next()) {
    if (step.done) return { value: step.value, longest };
    unpaused = 0;
  }
}

test('the closes of a symbol are read with pauses, and its statistics follow one', () => {
  const all = Array.from({ length: 19_001 }, (_, i) => 1_000 + i);
  const described = run(all, (prices) => describeCloses(GOLD, prices, DAYS));
  expect(described.longest).toBe(1_000);
  expect(described.value.statistics).toMatchObject({ count: 19_001, mean: 10_500 });
});

test('the closes of a formula are read with pauses, whether it has many values or none', () => {
  const all = Array.from({ length: 19_001 }, (_, i) => 1_000 + i);
  const described = run(all, (prices) => describeCloses(FORMULA, prices, DAYS));
  expect(described.longest).toBe(FORMULA_DAYS_PER_STEP);
  expect(described.value.statistics).toMatchObject({ count: 19_001, mean: 10_500 });
  for (const days of [[], [1_000]]) {
    const found = run(days, (prices) => hasClose(FORMULA, prices, DAYS));
    expect(found).toEqual({ value: days.length > 0, longest: FORMULA_DAYS_PER_STEP });
  }
});

test('correlations are computed with a pause after each', () => {
  const closes = [1, 2, 3].map((power) => {
    return { closes: closeSeries([1, 2, 4, 3].map((close, day) => ({ day, close: close ** power }))) };
  });
  const steps = [...correlate(closes)];
  expect(steps).toHaveLength(9);
  expect(finish(correlate(closes))).toEqual([
    [1, 1, 1],
    [1, 1, 1],
    [1, 1, 1],
  ]);
});
