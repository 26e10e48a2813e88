import { afterEach, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from '../../../test/support/ledger.ts';
import { withSmallDisk } from '../../../test/support/small-disk.ts';
import { addUnits, byLease, OpenedSpools, ownerOf, spoolFiles } from '../../../test/support/spool.ts';
import type { Leftover } from './spool.ts';

const spools = new OpenedSpools();
afterEach(() => spools.close());

test('the next process finds what was spent', () => {
  const dir = newFolder();
  const first = spools.open(dir);
  const a = first.add(ownerOf(1));
  first.add(ownerOf(2));
  for (let i = 1; i <= 300; i++) addUnits(a, i % 3, 1);
  first.close();
  const left = spools.open(dir).leftovers;
  expect(summary(left)).toEqual({ 'lease-1': 300, 'lease-2': 0 });
  expect(left.find(({ owner }) => owner.leaseId === 'lease-1')!.owner).toEqual(ownerOf(1));
});

test('a freed record is erased and reused', () => {
  const dir = newFolder();
  const spool = spools.open(dir, 2);
  for (let i = 0; i < 50; i++) spool.add(ownerOf(i)).free();
  spool.add(ownerOf(50));
  spool.close();
  expect(summary(spools.open(dir, 2).leftovers)).toEqual({ 'lease-50': 0 });
  expect(spoolFiles(dir)).toEqual(['0-0.v4.spool']);
});

test('a spool grows by a new file, and all of them are read', () => {
  const dir = newFolder();
  const spool = spools.open(dir, 2);
  for (let i = 0; i < 5; i++) addUnits(spool.add(ownerOf(i)), 0, i);
  spool.close();
  expect(spoolFiles(dir)).toEqual(['0-0.v4.spool', '0-1.v4.spool', '0-2.v4.spool']);
  expect(summary(spools.open(dir, 2).leftovers)).toEqual({
    'lease-0': 0,
    'lease-1': 1,
    'lease-2': 2,
    'lease-3': 3,
    'lease-4': 4,
  });
});

test('a quarter of a file is kept free while the disk has space, for new leases on a full disk', async () => {
  const dir = newFolder();
  const spool = spools.open(dir, 8);
  for (let i = 0; i < 6; i++) spool.add(ownerOf(i));
  spool.reserveAhead();
  expect(spoolFiles(dir)).toEqual(['0-0.v4.spool']);
  spool.add(ownerOf(6));
  spool.reserveAhead();
  spool.reserveAhead();
  expect(spoolFiles(dir)).toEqual(['0-0.v4.spool', '0-1.v4.spool']);
  await withSmallDisk(1, async (folder) => {
    const full = spools.open(folder, 8);
    full.reserve();
    writeFileSync(join(folder, 'filler'), new Uint8Array(1_000_000));
    for (let i = 0; i < 8; i++) full.add(ownerOf(i));
    full.reserveAhead();
    expect(spoolFiles(folder)).toEqual(['0-0.v4.spool']);
  });
});

test('two owners never share a slot', () => {
  const dir = newFolder();
  spools.open(dir).add(ownerOf(1));
  spools.open(dir).add(ownerOf(2));
  expect(spoolFiles(dir)).toEqual(['0-0.v4.spool', '1-0.v4.spool']);
});

test('the slot of a dead process is adopted, and released once it is settled', () => {
  const dir = newFolder();
  const [mine, other] = [spools.open(dir), spools.open(dir)];
  addUnits(other.add(ownerOf(7)), 0, 4);
  expect(mine.adopt()).toEqual([]);
  other.close();
  const adopted = mine.adopt();
  expect(summary(adopted)).toEqual({ 'lease-7': 4 });
  expect(mine.adopt()).toEqual([]);
  adopted[0]!.free();
  expect(spoolFiles(dir)).toEqual([]);
  expect(spools.open(dir).leftovers).toEqual([]); // slot 1 is free again
});

test('a slot that cannot be read does not keep those of other dead processes from being adopted', () => {
  const dir = newFolder();
  const [mine, other] = [spools.open(dir), spools.open(dir)];
  addUnits(other.add(ownerOf(7)), 0, 4);
  other.close();
  writeFileSync(join(dir, '5.lock'), '');
  mkdirSync(join(dir, '5-0.v4.spool'));
  expect(summary(mine.adopt())).toEqual({ 'lease-7': 4 });
  expect(spools.warnings).toEqual([expect.stringContaining('slot 5 of the spool cannot be read: ')]);
});

test('a kill -9 frees the slot and keeps every spend', async () => {
  const dir = newFolder();
  const spender = join(import.meta.dir, '../../../test/support/children/spender.ts');
  const child = Bun.spawn([process.execPath, spender, dir], { stdout: 'pipe', stderr: 'ignore' });
  try {
    const { value } = await child.stdout.getReader().read();
    expect(new TextDecoder().decode(value)).toBe('spent 1000\n');
    expect(spools.open(dir).leftovers).toEqual([]); // another slot: the child holds the first
  } finally {
    child.kill('SIGKILL');
    await child.exited;
  }
  expect(summary(spools.open(dir).leftovers)).toEqual({ 'lease-1': 1_000 });
});

test('an account id of 63 characters fits; one that does not is refused by name', () => {
  const dir = newFolder();
  const spool = spools.open(dir);
  const [leaseId, replica] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()];
  const owner = { accountId: 'x'.repeat(63), period: 202611, leaseId, replica };
  spool.add(owner);
  expect(() => spool.add({ ...owner, accountId: 'y'.repeat(64) })).toThrow('yyy');
  spool.close();
  expect(spools.open(dir).leftovers.map((left) => left.owner)).toEqual([owner]);
});

test('every count of many endpoints has its own place in a record', () => {
  const dir = newFolder();
  const endpoints = Array.from({ length: 40 }, (_, i) => `endpoint-${i}`);
  const spool = spools.open(dir, 8, endpoints);
  addUnits(spool.add(ownerOf(1)), 39, 1);
  addUnits(spool.add(ownerOf(2)), 0, 2);
  spool.close();
  expect(byLease(spools.open(dir, 8, endpoints).leftovers)).toEqual({
    'lease-1': { 'endpoint-39': 1 },
    'lease-2': { 'endpoint-0': 2 },
  });
});

function summary(leftovers: readonly Leftover[]): Record<string, number> {
  return Object.fromEntries(
    leftovers.map(({ owner, spentBy }) => [
      owner.leaseId,
      Object.values(spentBy).reduce((sum, n) => sum + n, 0),
    ]),
  );
}
