import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { inColumns, type MarketGroup } from './groups.ts';

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
