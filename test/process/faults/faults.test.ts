import { expect, test } from 'bun:test';
import { playRow } from './row.ts';
import { ROWS } from './rows.ts';

for (const row of ROWS) {
  const lacks = row.lacks();
  const title = `${row.name}: ${row.fault}: ${row.mustHold}`;
  if (lacks) test.skip(`${title} (skipped: this machine has no ${lacks})`, () => {});
  else
    test(title, async () => {
      const { broke } = await playRow(row, 'ci');
      expect(broke).toEqual([]);
    }, 120_000);
}
