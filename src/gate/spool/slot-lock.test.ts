import { expect, test } from 'bun:test';
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
