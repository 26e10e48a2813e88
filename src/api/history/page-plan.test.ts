import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Columns } from '../../board/series/bars/columns.ts';
import type { Series } from '../../board/series/series.ts';
import { FrozenView } from '../../board/views/frozen-view.ts';
import { INTERVALS, intervalStart } from '../../market/interval.ts';
import { ROWS_PER_UNIT } from '../model/long-table.ts';
import type { Cursor } from '../params/cursor.ts';
import { intervalPieces } from './interval-pieces.ts';
import { type Span, windowsFrom } from './interval-rows.ts';
import { PAGE_BARS_MAX, planPage } from './page-plan.ts';

const FIRST = 16_000;
const DAYS = 2_000;

/** A market with one series per gap: it has bars on all days except multiples of the gap, from its start on. */
function marketOf(gaps: readonly number[], starts: readonly number[] = []) {
  const frozen = gaps.map((gap, i) => {
    const columns = new Columns();
    const firstDay = FIRST + (starts[i] ?? 0);
    for (let day = firstDay; day < FIRST + DAYS; day++) {
      if (day % gap !== 0) columns.set(day, { open: 1, high: 1, low: 1, close: 1 }, 1);
    }
    const measure = { unit: '', quote: '' };
    const ends = { latest: undefined, firstDay, lastDay: FIRST + DAYS - 1 };
    return [
      { symbol: { decimals: 2 } } as Series,
      { measure, ...ends, bars: columns.freeze(), overlay: [] },
    ] as const;
  });
  const symbols = frozen.map(([series], i) => ({ code: `S${i}`, series }));
  return { symbols, prices: new FrozenView(0, new Map(frozen)) };
}

test('a planned page has the rows that folding gives, and the next page starts with the row after them', () => {
  const { symbols, prices } = marketOf([2, 3, 5, 7, 400], [0, 0, 700, 701, 1_900]);
  const property = fc.property(
    fc.constantFrom(...INTERVALS),
    fc.integer({ min: FIRST - 50, max: FIRST + DAYS }),
    fc.nat(DAYS),
    fc.nat(DAYS),
    fc.nat(6),
    (interval, first, length, offset, symbolIndex) => {
      const span: Span = { first, last: first + length, interval };
      const from: Cursor = { day: intervalStart(interval, first + offset), symbolIndex };
      const rows = [...intervalPieces(from, symbols, prices, span)].flatMap((piece) => piece.rows);
      const plan = planPage(from, symbols, prices, span);
      expect(plan.rows).toBe(Math.min(rows.length, ROWS_PER_UNIT));
      const next = rows[ROWS_PER_UNIT];
      expect(plan.next).toEqual(next && { day: next.day, symbolIndex: next.symbolIndex });
    },
  );
  fc.assert(property, { numRuns: 200 });
});

test('pages that end at the limit on bars cover all rows without gaps', () => {
  const { symbols: one, prices } = marketOf([3_000]);
  const symbols = Array.from({ length: 600 }, (_, i) => ({ ...one[0]!, code: `S${i}` }));
  const span: Span = { first: FIRST, last: FIRST + DAYS - 1, interval: 'year' };
  const start = { day: intervalStart('year', FIRST), symbolIndex: 0 };
  const expected = [...intervalPieces(start, symbols, prices, span)].flatMap((p) => p.rows);
  let rows = 0;
  let pages = 0;
  let next: Cursor | undefined = start;
  while (next) {
    const plan = planPage(next, symbols, prices, span);
    expect(plan.bars).toBeLessThan(PAGE_BARS_MAX + 1_000);
    expect(plan.rows).toBeGreaterThan(0);
    rows += plan.rows;
    pages++;
    next = plan.next;
  }
  expect(pages).toBeGreaterThan(5);
  expect(rows).toBe(expected.length);
});

test('a window has few bars, and is long while most histories have not begun', () => {
  const starts = Array.from({ length: 100 }, (_, i) => (i === 0 ? 0 : DAYS - 100 + Math.floor(i / 20)));
  const { symbols, prices } = marketOf(
    starts.map(() => 3_000),
    starts,
  );
  const span: Span = { first: FIRST - 10_000, last: FIRST + DAYS - 1, interval: 'day' };
  const windows = [...windowsFrom({ day: span.first, symbolIndex: 0 }, symbols, prices, span)];
  const barsOf = (first: number, last: number) =>
    symbols.reduce((sum, { series }) => sum + prices.days(series, first, last).length, 0);
  for (const { first, last } of windows) expect(barsOf(first, last)).toBeLessThanOrEqual(500);
  expect(windows.filter(({ last }) => last < FIRST + DAYS - 100).length).toBeLessThan(20);
});
