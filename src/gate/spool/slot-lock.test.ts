import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from '../../../test/support/ledger.ts';
import { lockSlot } from './slot-lock.ts';

test('a slot stays locked when its owner keeps no reference to the lock', () => {
  const path = join(newFolder(), '0.lock');
  const take = () => lockSlot(path) !== undefined;
  expect(take()).toBe(true);
  for (let i = 0; i < 3; i++) Bun.gc(true);
  expect(take()).toBe(false);
});

test('a damaged lock is reported by its name: the ledger is another file, and not damaged', () => {
  const path = join(newFolder(), '0.lock');
  writeFileSync(path, 'x'.repeat(4_096));
  expect(() => lockSlot(path)).toThrow(`${path} cannot be locked: file is not a database`);
});
