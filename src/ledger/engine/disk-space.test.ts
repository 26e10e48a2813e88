import { expect, test } from 'bun:test';
import { tmpdir } from 'node:os';
import { hasDiskSpace, requireDiskSpace } from './disk-space.ts';
import { outageReason, Unavailable } from './errors.ts';

test('a disk with free space is not full, and neither is the disk of a missing folder', () => {
  expect(hasDiskSpace(tmpdir())).toBe(true);
  expect(hasDiskSpace('/there/is/no/such/folder')).toBe(true);
  expect(() => requireDiskSpace(tmpdir())).not.toThrow();
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
