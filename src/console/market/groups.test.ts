import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { inColumns, type MarketGroup, rowsPerGroup } from './groups.ts';

const heightOf = ({ symbols }: MarketGroup) => 1 + symbols.length;
const groupsOf = (sizes: readonly number[]) =>
  sizes.map((size, i): MarketGroup => ({ name: `group ${i}`, symbols: Array(size).fill(undefined) }));
const sum = (groups: readonly MarketGroup[]) => groups.reduce((all, group) => all + heightOf(group), 0);

describe('the columns of the market', () => {
  test('hold every group once, in order, the first group first, and differ by one group at most', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(80), { minLength: 2, maxLength: 9 }), (sizes) => {
        const groups = groupsOf(sizes);
        const columns = inColumns(groups, heightOf);
        expect(columns).toHaveLength(2);
        expect(columns[0]![0]).toBe(groups[0]);
        for (const column of columns) expect(column).toEqual(groups.filter((one) => column.includes(one)));
        expect(columns.flat()).toHaveLength(groups.length);
        const difference = Math.abs(sum(columns[0]!) - sum(columns[1]!));
        expect(difference).toBeLessThanOrEqual(Math.max(...groups.map(heightOf)));
      }),
    );
  });
});

test('a page shows as many rows of each group as fit, and all of them if the whole market fits', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(900), { minLength: 1, maxLength: 9 }),
      fc.integer({ min: 9, max: 1_000 }),
      (sizes, rowsMax) => {
        const rows = rowsPerGroup(groupsOf(sizes), rowsMax);
        const shown = (perGroup: number) => sizes.reduce((all, size) => all + Math.min(size, perGroup), 0);
        expect(shown(rows)).toBeLessThanOrEqual(rowsMax);
        if (shown(rows) < shown(Number.POSITIVE_INFINITY)) expect(shown(rows + 1)).toBeGreaterThan(rowsMax);
      },
    ),
  );
});
