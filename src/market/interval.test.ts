import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Day, FIRST_DAY, LAST_DAY, parseDay, printDay, weekday } from './day.ts';
import { foldBars, INTERVALS, intervalStart, laterInterval } from './interval.ts';

const day = fc.integer({ min: FIRST_DAY, max: LAST_DAY });
const interval = fc.constantFrom(...INTERVALS);

describe('intervals', () => {
  const STARTS: [text: string, week: string, month: string, quarter: string, year: string][] = [
    ['2024-05-15', '2024-05-13', '2024-05-01', '2024-04-01', '2024-01-01'],
    ['2024-05-13', '2024-05-13', '2024-05-01', '2024-04-01', '2024-01-01'],
    ['2024-05-12', '2024-05-06', '2024-05-01', '2024-04-01', '2024-01-01'], // a Sunday
    ['2024-01-01', '2024-01-01', '2024-01-01', '2024-01-01', '2024-01-01'],
    ['2023-01-01', '2022-12-26', '2023-01-01', '2023-01-01', '2023-01-01'],
    ['1965-12-31', '1965-12-27', '1965-12-01', '1965-10-01', '1965-01-01'],
    ['2024-02-29', '2024-02-26', '2024-02-01', '2024-01-01', '2024-01-01'],
  ];
  for (const [text, ...starts] of STARTS) {
    test(`${text} lies in the intervals from ${starts.join(', ')}`, () => {
      const all = INTERVALS.map((one) => printDay(intervalStart(one, parseDay(text)!)));
      expect(all).toEqual([text, ...starts]);
    });
  }

  test('a day lies in exactly one interval, and a week starts on Monday', () => {
    fc.assert(
      fc.property(interval, day, (one, d) => {
        const start = intervalStart(one, d);
        expect(start).toBeLessThanOrEqual(d);
        expect(laterInterval(one, d, 1)).toBeGreaterThan(d);
        expect(intervalStart(one, start)).toBe(start);
        expect(laterInterval(one, d, 0)).toBe(start);
        expect(intervalStart(one, laterInterval(one, d, 1) - 1)).toBe(start);
        expect(laterInterval(one, laterInterval(one, d, 3), 4)).toBe(laterInterval(one, d, 7));
        if (one === 'week') expect(weekday(start)).toBe(1);
      }),
    );
  });

  test('folding is grouping by the text of the date, done naively', () => {
    const prices = fc.tuple(fc.nat(999), fc.nat(99), fc.nat(99), fc.integer({ min: -50, max: 50 }));
    const bars = fc
      .dictionary(
        fc.integer({ min: 19_000, max: 20_500 }).map((d) => String(d)),
        prices,
        { maxKeys: 60 },
      )
      .map((all) =>
        Object.entries(all)
          .map(([d, [open, up, down, move]]) => {
            const close = open + move;
            const [high, low] = [Math.max(open, close) + up, Math.min(open, close) - down];
            return { day: Number(d), open, high, low, close };
          })
          .sort((a, b) => a.day - b.day),
      );
    fc.assert(
      fc.property(bars, fc.constantFrom('month' as const, 'year' as const), (all, one) => {
        const key = (d: Day) => printDay(d).slice(0, one === 'month' ? 7 : 4);
        const naive = [...Map.groupBy(all, (bar) => key(bar.day)).values()].map((group) => ({
          open: group[0]!.open,
          high: Math.max(...group.map((bar) => bar.high)),
          low: Math.min(...group.map((bar) => bar.low)),
          close: group.at(-1)!.close,
          bars: group,
        }));
        expect(foldBars(all, one).map(({ day: _, ...rest }) => rest)).toEqual(naive);
        expect(foldBars(all, 'day').map(({ bars: _, ...bar }) => bar)).toEqual(all);
      }),
    );
  });
});
