import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ChartBar } from '../../api/answers.ts';
import { addDays } from '../days.ts';
import { periodsOf } from './periods.ts';

const bar = fc
  .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }))
  .map(([open, close]) => ({ open, high: Math.max(open, close) + 1, low: Math.min(open, close) - 1, close }));
const bars = fc
  .array(bar, { minLength: 1, maxLength: 300 })
  .map((all) => all.map((one, i): ChartBar => ({ ...one, date: addDays('2024-01-01', i) })));

test('few periods contain all bars in order, with the first open, the extremes and the last close', () => {
  fc.assert(
    fc.property(bars, fc.integer({ min: 1, max: 30 }), (all, max) => {
      const periods = periodsOf(all, max);
      expect(periods.length).toBeLessThanOrEqual(max);
      expect(periods[0]).toMatchObject({ first: all[0]!.date, open: all[0]!.open });
      expect(periods.at(-1)).toMatchObject({ last: all.at(-1)!.date, close: all.at(-1)!.close });
      for (const [i, { first, last, high, low }] of periods.entries()) {
        const own = all.filter(({ date }) => date >= first && date <= last);
        expect(high).toBe(Math.max(...own.map((one) => one.high)));
        expect(low).toBe(Math.min(...own.map((one) => one.low)));
        if (i > 0) expect(first).toBe(addDays(periods[i - 1]!.last, 1));
      }
    }),
  );
});

test('bars that are few enough are a period each', () => {
  const one = { open: 1, high: 3, low: 0, close: 2 };
  const two = { open: 2, high: 4, low: 1, close: 3 };
  expect(
    periodsOf(
      [
        { date: '2024-01-01', ...one },
        { date: '2024-02-01', ...two },
      ],
      2,
    ),
  ).toEqual([
    { first: '2024-01-01', last: '2024-01-01', ...one },
    { first: '2024-02-01', last: '2024-02-01', ...two },
  ]);
  expect(periodsOf([], 2)).toEqual([]);
});
