import { afterEach, expect, test } from 'bun:test';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { newFolder } from '../../../test/support/ledger.ts';
import { type Leftover, Spool } from './spool.ts';
import { COUNT_MAX, COUNTS, type Owner, pack, RECORD_BYTES, unpack } from './spool-record.ts';

const opened: Spool[] = [];
let warnings: string[] = [];

afterEach(() => {
  for (const spool of opened.splice(0)) spool.close();
  warnings = [];
});

test('what was spent is there for the next process', () => {
  const dir = newFolder();
  const first = open(dir);
  const a = first.add(ownerOf(1));
  first.add(ownerOf(2));
  for (let i = 1; i <= 300; i++) a.counts[i % 3] = pack(Math.ceil(i / 3));
  first.close();
  const left = open(dir).leftovers;
  expect(summary(left)).toEqual({ 'lease-1': 300, 'lease-2': 0 });
  expect(left.find(({ owner }) => owner.leaseId === 'lease-1')!.owner).toEqual(ownerOf(1));
});

test('a freed record is gone, and its place is used again', () => {
  const dir = newFolder();
  const spool = open(dir, 2);
  for (let i = 0; i < 50; i++) spool.add(ownerOf(i)).free();
  spool.add(ownerOf(50));
  spool.close();
  expect(summary(open(dir, 2).leftovers)).toEqual({ 'lease-50': 0 });
  expect(spoolFiles(dir)).toEqual(['0-0.spool']);
});

test('a spool grows by a new file, and all of them are read', () => {
  const dir = newFolder();
  const spool = open(dir, 2);
  for (let i = 0; i < 5; i++) spool.add(ownerOf(i)).counts[0] = pack(i);
  spool.close();
  expect(spoolFiles(dir)).toEqual(['0-0.spool', '0-1.spool', '0-2.spool']);
  expect(summary(open(dir, 2).leftovers)).toEqual({
    'lease-0': 0,
    'lease-1': 1,
    'lease-2': 2,
    'lease-3': 3,
    'lease-4': 4,
  });
});

test('two owners never share a slot', () => {
  const dir = newFolder();
  open(dir).add(ownerOf(1));
  open(dir).add(ownerOf(2));
  expect(spoolFiles(dir)).toEqual(['0-0.spool', '1-0.spool']);
});

test('the slot of a process that is gone is taken over, and let go when it is settled', () => {
  const dir = newFolder();
  const [mine, other] = [open(dir), open(dir)];
  other.add(ownerOf(7)).counts[0] = pack(4);
  expect(mine.adopt()).toEqual([]);
  other.close();
  const adopted = mine.adopt();
  expect(summary(adopted)).toEqual({ 'lease-7': 4 });
  expect(mine.adopt()).toEqual([]);
  adopted[0]!.record.free();
  expect(spoolFiles(dir)).toEqual([]);
  expect(open(dir).leftovers).toEqual([]); // slot 1 is free again
});

test('a kill -9 frees the slot and keeps every spend', async () => {
  const dir = newFolder();
  const spender = join(import.meta.dir, '../../../test/support/spender.ts');
  const child = Bun.spawn([process.execPath, spender, dir], { stdout: 'pipe', stderr: 'ignore' });
  try {
    const { value } = await child.stdout.getReader().read();
    expect(new TextDecoder().decode(value)).toBe('spent 1000\n');
    expect(open(dir).leftovers).toEqual([]); // another slot: the child holds the first
  } finally {
    child.kill('SIGKILL');
    await child.exited;
  }
  expect(summary(open(dir).leftovers)).toEqual({ 'lease-1': 1_000 });
});

test('an account id that does not fit is refused with its name', () => {
  expect(() => open(newFolder()).add({ ...ownerOf(1), accountId: 'x'.repeat(400) })).toThrow('xxx');
});

test('a file cut at any byte gives right numbers or none', () => {
  const [whole, dir] = [threeRecords(), newFolder()];
  for (let length = 0; length <= whole.length; length++) {
    replaceFile(dir, whole.subarray(0, length));
    const { leftovers } = open(dir);
    expect(leftovers.length).toBe(Math.floor(length / RECORD_BYTES));
    expectRight(leftovers);
    opened.pop()!.close();
  }
});

test('a damaged file gives right numbers or none', () => {
  const [whole, dir] = [threeRecords(), newFolder()];
  const damage = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 })), {
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(damage, (bytes) => {
      const broken = new Uint8Array(whole);
      for (const [at, flip] of bytes) broken[at]! ^= flip;
      replaceFile(dir, broken);
      expectRight(open(dir).leftovers);
      opened.pop()!.close();
    }),
    { numRuns: 500 },
  );
});

test('every single damaged bit of a count is seen', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: COUNT_MAX }), fc.nat(63), (count, bit) => {
      const cell = new Float64Array([pack(count)]);
      expect(unpack(cell[0]!)).toBe(count);
      new Uint8Array(cell.buffer)[bit >> 3]! ^= 1 << (bit & 7);
      expect(unpack(cell[0]!)).toBeUndefined();
    }),
    { numRuns: 5_000 },
  );
});

test('zeros are not a count', () => {
  expect(unpack(0)).toBeUndefined();
  expect(unpack(Number.NaN)).toBeUndefined();
  expect(unpack(pack(COUNT_MAX) + 2 ** 24)).toBeUndefined();
});

function open(dir: string, recordsPerFile = 8): Spool {
  const spool = new Spool({ dir, recordsPerFile, warn: (text) => warnings.push(text) });
  opened.push(spool);
  return spool;
}

function ownerOf(n: number): Owner {
  return { accountId: `account-${n}`, period: 202611, leaseId: `lease-${n}`, replica: 'r1' };
}

function summary(leftovers: readonly Leftover[]): Record<string, number> {
  return Object.fromEntries(
    leftovers.map(({ owner, counts }) => [owner.leaseId, counts.reduce((sum, n) => sum + n, 0)]),
  );
}

/** Three records with 10, 20 and 30 in their first count. */
function threeRecords(): Buffer {
  const dir = newFolder();
  const spool = open(dir, 3);
  for (const n of [1, 2, 3]) spool.add(ownerOf(n)).counts[0] = pack(n * 10);
  return readFileSync(join(dir, '0-0.spool'));
}

/** A new file, so that maps of the old one stay whole. */
function replaceFile(dir: string, bytes: Uint8Array): void {
  rmSync(join(dir, '0-0.spool'), { force: true });
  writeFileSync(join(dir, '0-0.spool'), bytes);
}

function expectRight(leftovers: readonly Leftover[]): void {
  for (const { owner, counts } of leftovers) {
    const n = Number(owner.leaseId.slice('lease-'.length));
    expect(owner).toEqual(ownerOf(n));
    expect(counts).toEqual([n * 10, ...new Array(COUNTS - 1).fill(0)]);
  }
}

function spoolFiles(dir: string): string[] {
  return readdirSync(dir)
    .filter((name) => name.endsWith('.spool'))
    .sort();
}
