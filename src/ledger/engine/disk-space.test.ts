import { expect, test } from 'bun:test';
import { tmpdir } from 'node:os';
import { hasDiskSpace, requireDiskSpace } from './disk-space.ts';
import { outageReason, Unavailable } from './errors.ts';

test('a disk with room has room, and a folder that is not there is no full disk', () => {
  expect(hasDiskSpace(tmpdir())).toBe(true);
  expect(hasDiskSpace('/there/is/no/such/folder')).toBe(true);
  expect(() => requireDiskSpace(tmpdir())).not.toThrow();
});

test('what says that a disk is full is an outage that tells so, whatever it came through', () => {
  for (const code of ['SQLITE_FULL', 'ENOSPC', 'EDQUOT', 'EFBIG']) {
    expect(outageReason(Object.assign(new Error('x'), { code }))).toContain('disk is full');
  }
  const postgres = { code: 'ERR_POSTGRES_SERVER_ERROR', errno: '53100' };
  expect(outageReason(Object.assign(new Error('x'), postgres))).toContain('disk is full');
  const away = new Unavailable('it is being started');
  // From a thread an error comes as its text and its code.
  expect(outageReason(Object.assign(new Error(away.message), { code: away.code }))).toBe(
    'it is being started',
  );
  expect(outageReason(new Error('a bug'))).toBeUndefined();
});
