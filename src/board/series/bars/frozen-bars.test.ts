import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { FrozenView } from '../../views/frozen-view.ts';
import type { SourcedBar } from '../price-types.ts';
import { Columns } from './columns.ts';
import type { FrozenBars } from './frozen-bars.ts';

const barsOf = (frozen: FrozenBars) => Array.from({ length: frozen.length }, (_, i) => frozen.bar(i));

function set(columns: Columns, day: number, price: number, sourceId = 1): void {
  columns.set(day, { open: price, high: price + 1, low: price - 1, close: price }, sourceId);
}

const change = fc.record({
  day: fc.integer({ min: 0, max: 40 }),
  price: fc.integer({ min: -5, max: 5 }),
  sourceId: fc.integer({ min: 1, max: 2 }),
  removes: fc.boolean(),
});

test('a snapshot never changes, whatever is appended, corrected, inserted or removed afterwards', () => {
  fc.assert(
    fc.property(fc.array(fc.option(change), { maxLength: 120 }), (steps) => {
      const columns = new Columns();
      const taken: { frozen: FrozenBars; bars: SourcedBar[]; digest: bigint }[] = [];
      for (const step of steps) {
        if (step?.removes) columns.remove(step.day);
        else if (step) set(columns, step.day, step.price, step.sourceId);
        else {
          const frozen = columns.freeze();
          taken.push({ frozen, bars: barsOf(frozen), digest: frozen.digest(0, frozen.length) });
        }
      }
      for (const { frozen, bars, digest } of taken) {
        expect(barsOf(frozen)).toEqual(bars);
        expect(frozen.digest(0, frozen.length)).toBe(digest);
      }
    }),
  );
});

test('digests are equal for equal bars, and differ if any number in the range differs', () => {
  const build = (changed?: (columns: Columns) => void) => {
    const columns = new Columns();
    for (let day = 0; day < 5_000; day++) set(columns, day, day / 4);
    changed?.(columns);
    return columns.freeze();
  };
  const original = build();
  const ranges = [
    [0, 5_000],
    [0, 1_024],
    [1, 1_025],
    [1_000, 3_100],
    [2_047, 2_049],
  ] as const;
  for (const [from, to] of ranges) expect(build().digest(from, to)).toBe(original.digest(from, to));
  for (const [from, to] of ranges) {
    for (const at of [from, (from + to) >> 1, to - 1]) {
      const price = build((columns) => set(columns, at, -1));
      const source = build((columns) => set(columns, at, at / 4, 2));
      expect(price.digest(from, to)).not.toBe(original.digest(from, to));
      expect(source.digest(from, to)).not.toBe(original.digest(from, to));
    }
    const outside = build((columns) => to < 5_000 && set(columns, to, -1));
    expect(outside.digest(from, to)).toBe(original.digest(from, to));
  }
});

test('days and digests include the unsettled bars', () => {
  const columns = new Columns();
  for (const day of [1, 2, 4]) set(columns, day, day);
  const young = (day: number, close: number): SourcedBar => ({
    day,
    open: 1,
    high: 2,
    low: 0,
    close,
    sourceId: 1,
  });
  const series = {} as never;
  const view = (overlay: SourcedBar[]) => {
    const nothing = { measure: { unit: '', quote: '' }, latest: undefined, firstDay: 1, lastDay: 5 };
    const own = { ...nothing, bars: columns.freeze(), overlay };
    return new FrozenView(0, new Map([[series, own]]));
  };
  expect([...view([]).days(series, 2, 9)]).toEqual([2, 4]);
  expect([...view([young(3, 1), young(4, 1), young(5, 1)]).days(series, 2, 9)]).toEqual([2, 3, 4, 5]);
  const digest = (overlay: SourcedBar[]) => view(overlay).digest(series, 2, 9);
  expect(digest([young(3, 1)])).not.toBe(digest([young(3, 1.5)]));
  expect(digest([young(3, 1)])).not.toBe(digest([]));
  expect(digest([young(10, 1)])).toBe(digest([]));
});
