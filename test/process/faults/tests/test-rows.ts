import { expect, test } from 'bun:test';
import { type Row, runRow } from '../row.ts';

/** One test for each row. A row that needs what this machine lacks is skipped, and says so. */
export function testRows(rows: readonly Row[]): void {
  for (const row of rows) {
    const lacks = row.lacks();
    const title = `${row.name}: ${row.fault}: ${row.mustHold}`;
    if (lacks) test.skip(`${title} (skipped: this machine has no ${lacks})`, () => {});
    else
      test(title, async () => {
        const { broke } = await runRow(row, 'ci');
        expect(broke).toEqual([]);
      }, 300_000);
  }
}
