import { expect, test } from 'bun:test';
import { existsSync, mkdirSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withSmallDisk } from '../../../test/support/small-disk.ts';
import { hasDiskSpace, hasFreeInodes, requireDiskSpace } from './disk-space.ts';
import { outageReason, Unavailable } from './errors.ts';

test('a disk with free space is not full, and neither is the disk of a missing folder', () => {
  expect(hasDiskSpace(tmpdir())).toBe(true);
  expect(hasDiskSpace('/there/is/no/such/folder')).toBe(true);
  expect(() => requireDiskSpace(tmpdir())).not.toThrow();
});

test('a file system with free space can be out of inodes', async () => {
  expect(hasFreeInodes(tmpdir())).toBe(true);
  expect(hasFreeInodes('/there/is/no/such/folder')).toBe(true);
  const inodes = 400;
  await withSmallDisk(
    8,
    async (folder) => {
      for (let i = 1; i < inodes - 4; i++) mkdirSync(join(folder, `${i}`)); // the folder itself has one
      expect([hasFreeInodes(folder), hasDiskSpace(folder)]).toEqual([true, true]);
      mkdirSync(join(folder, 'last'));
      expect([hasFreeInodes(folder), hasDiskSpace(folder)]).toEqual([false, true]);
    },
    inodes,
  );
});

test.skipIf(!existsSync('/proc/self'))('a file system that does not count inodes has enough', () => {
  expect(statfsSync('/proc').files).toBe(0); // as on btrfs
  expect(hasFreeInodes('/proc')).toBe(true);
});

test('every error that means a full disk is an outage, and its reason says so', () => {
  for (const code of ['SQLITE_FULL', 'ENOSPC', 'EDQUOT', 'EFBIG']) {
    expect(outageReason(Object.assign(new Error('x'), { code }))).toContain('disk is full');
  }
  const postgres = { code: 'ERR_POSTGRES_SERVER_ERROR', errno: '53100' };
  expect(outageReason(Object.assign(new Error('x'), postgres))).toContain('disk is full');
  const away = new Unavailable('it is being started');
  // An error from another thread has only its message and its code.
  expect(outageReason(Object.assign(new Error(away.message), { code: away.code }))).toBe(
    'it is being started',
  );
  expect(outageReason(new Error('a bug'))).toBeUndefined();
});
