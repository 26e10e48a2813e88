import { expect, test } from 'bun:test';
import { REPLICA_ROWS } from './replica-rows.ts';
import { playRow } from './row.ts';
import { ROWS } from './rows.ts';

for (const row of ROWS) {
  if (REPLICA_ROWS.includes(row)) continue; // replicas.test.ts and ledger-away.test.ts play the same trials
  const lacks = row.lacks();
  const title = `${row.name}: ${row.fault}: ${row.mustHold}`;
  if (lacks) test.skip(`${title} (skipped: this machine has no ${lacks})`, () => {});
  else
    test(title, async () => {
      const { broke } = await playRow(row, 'ci');
      expect(broke).toEqual([]);
    }, 300_000);
}
