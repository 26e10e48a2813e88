import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { day } from '../../../test/support/ledgers.ts';
import { isWeekend } from '../../market/day.ts';
import { gapsIn } from './gaps.ts';

test.each([
  ['nothing', [], 0],
  ['one day', ['2026-07-13'], 0],
  ['a week of days', ['2026-07-13', '2026-07-14', '2026-07-15', '2026-07-16', '2026-07-17'], 0],
  ['over a weekend', ['2026-07-16', '2026-07-17', '2026-07-20', '2026-07-21'], 0],
  ['without a Wednesday', ['2026-07-13', '2026-07-14', '2026-07-16', '2026-07-17'], 1],
  ['with a Sunday', ['2026-07-16', '2026-07-17', '2026-07-19', '2026-07-20'], 0],
  ['months', ['2026-01-01', '2026-02-01', '2026-03-01', '2026-06-01'], 2],
  [
    'weeks, one of them a day early',
    ['2026-06-05', '2026-06-12', '2026-06-18', '2026-06-26', '2026-07-10'],
    1,
  ],
])('%s', (_, dates, gaps) => {
  expect(gapsIn(dates.map(day))).toBe(gaps);
});

test('each day removed from consecutive weekdays is a gap', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 30_000 }),
      fc.integer({ min: 30, max: 200 }),
      fc.nat(),
      (from, length, seed) => {
        const all = Array.from({ length }, (_, i) => from + i).filter((one) => !isWeekend(one));
        const kept = all.filter((_, i) => i === 0 || i === all.length - 1 || (i * 7 + seed) % 5 !== 0);
        expect(gapsIn(kept)).toBe(all.length - kept.length);
      },
    ),
  );
});
