import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROW_GROUPS } from '../rows.ts';

test('every group of rows has a test file, except replicas: replicas.test.ts and ledger-away.test.ts run the same trials', () => {
  const untested = Object.keys(ROW_GROUPS).filter(
    (group) => !existsSync(join(import.meta.dir, `${group}.test.ts`)),
  );
  expect(untested).toEqual(['replicas']);
});
