import { afterEach, expect, test } from 'bun:test';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { newFolder } from '../../../test/support/ledger.ts';
import { addUnits } from '../../../test/support/spool.ts';
import { COUNTED_ENDPOINTS } from '../endpoints.ts';
import { writeSealed } from './sealed-json.ts';
import { type Leftover, Spool } from './spool.ts';
import { HEADER_BYTES, layoutOf, SPOOL_VERSION } from './spool-file.ts';
import type { Owner } from './spool-record.ts';
import { countUnsettled } from './unsettled.ts';

const RECORD_BYTES = layoutOf(SPOOL_VERSION, COUNTED_ENDPOINTS.length).recordBytes;

/** What programs wrote before the current version: 4 records, one of them freed. */
const OLDER = [
  {
    version: 1,
    suffix: '.spool',
    endpoints: COUNTED_ENDPOINTS.filter((name) => !/^(statistics|market)$/.test(name)),
  },
  { version: 2, suffix: '.v2.spool', endpoints: COUNTED_ENDPOINTS },
].map(({ version, suffix, endpoints }) => ({
  version,
  suffix,
  path: join(import.meta.dir, `../../../test/fixtures/spool/version-${version}.spool`),
  counts: {
    'lease-1': Object.fromEntries(endpoints.map((endpoint, i) => [endpoint, 11 * (i + 1)])),
    'lease-2': { latest: 1_000_000 },
    'lease-4': {},
  },
}));

const opened: Spool[] = [];
let warnings: string[] = [];

afterEach(() => {
  for (const spool of opened.splice(0)) spool.close();
  warnings = [];
});

test('the next process finds what was spent', () => {
  const dir = newFolder();
  const first = open(dir);
  const a = first.add(ownerOf(1));
  first.add(ownerOf(2));
  for (let i = 1; i <= 300; i++) addUnits(a, i % 3, 1);
  first.close();
  const left = open(dir).leftovers;
  expect(summary(left)).toEqual({ 'lease-1': 300, 'lease-2': 0 });
  expect(left.find(({ owner }) => owner.leaseId === 'lease-1')!.owner).toEqual(ownerOf(1));
});

test('a freed record is erased and reused', () => {
  const dir = newFolder();
  const spool = open(dir, 2);
  for (let i = 0; i < 50; i++) spool.add(ownerOf(i)).free();
  spool.add(ownerOf(50));
  spool.close();
  expect(summary(open(dir, 2).leftovers)).toEqual({ 'lease-50': 0 });
  expect(spoolFiles(dir)).toEqual(['0-0.v3.spool']);
});

test('a spool grows by a new file, and all of them are read', () => {
  const dir = newFolder();
  const spool = open(dir, 2);
  for (let i = 0; i < 5; i++) addUnits(spool.add(ownerOf(i)), 0, i);
  spool.close();
  expect(spoolFiles(dir)).toEqual(['0-0.v3.spool', '0-1.v3.spool', '0-2.v3.spool']);
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
  expect(spoolFiles(dir)).toEqual(['0-0.v3.spool', '1-0.v3.spool']);
});

test('the slot of a dead process is adopted, and released once it is settled', () => {
  const dir = newFolder();
  const [mine, other] = [open(dir), open(dir)];
  addUnits(other.add(ownerOf(7)), 0, 4);
  expect(mine.adopt()).toEqual([]);
  other.close();
  const adopted = mine.adopt();
  expect(summary(adopted)).toEqual({ 'lease-7': 4 });
  expect(mine.adopt()).toEqual([]);
  adopted[0]!.free();
  expect(spoolFiles(dir)).toEqual([]);
  expect(open(dir).leftovers).toEqual([]); // slot 1 is free again
});

test('a kill -9 frees the slot and keeps every spend', async () => {
  const dir = newFolder();
  const spender = join(import.meta.dir, '../../../test/support/children/spender.ts');
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

test.each(OLDER)(
  'a spool of version $version is replayed exactly, and deleted when its counts are settled',
  (older) => {
    const dir = newFolder();
    copyFileSync(older.path, join(dir, `0-0${older.suffix}`));
    const spool = open(dir);
    expect(byLease(spool.leftovers)).toEqual(older.counts);
    for (const { owner } of spool.leftovers)
      expect(owner).toMatchObject({ accountId: owner.leaseId.replace('lease', 'account'), period: 202611 });
    expect(warnings).toEqual([]);
    spool.add(ownerOf(9)); // never into the old file
    expect(spoolFiles(dir)).toEqual([`0-0${older.suffix}`, '0-1.v3.spool']);
    for (const leftover of spool.leftovers) leftover.free();
    expect(spoolFiles(dir)).toEqual(['0-1.v3.spool']);
  },
);

test.each(OLDER)(
  'a crash while a spool of version $version is replayed keeps what was not settled',
  (older) => {
    const dir = newFolder();
    copyFileSync(older.path, join(dir, `0-0${older.suffix}`));
    const first = open(dir);
    first.leftovers.find(({ owner }) => owner.leaseId === 'lease-1')!.free();
    first.close();
    expect(byLease(open(dir).leftovers)).toEqual({ 'lease-2': { latest: 1_000_000 }, 'lease-4': {} });
  },
);

test.each(OLDER)('a spool of version $version that another process left is adopted', (older) => {
  const dir = newFolder();
  const [mine, other] = [open(dir), open(dir)];
  copyFileSync(older.path, join(dir, `1-0${older.suffix}`));
  other.close();
  const adopted = mine.adopt();
  expect(byLease(adopted)).toEqual(older.counts);
  for (const leftover of adopted) leftover.free();
  expect(spoolFiles(dir)).toEqual([]);
});

test.each(OLDER)('the unsettled leases in a spool of version $version are counted', ({ path, suffix }) => {
  const dir = newFolder();
  copyFileSync(path, join(dir, `0-0${suffix}`));
  expect(countUnsettled(dir)).toBe(2);
});

test('a program with other endpoints reads each count under its endpoint’s name', () => {
  const dir = newFolder();
  const before = open(dir);
  const record = before.add(ownerOf(1));
  addUnits(record, COUNTED_ENDPOINTS.indexOf('latest'), 5);
  addUnits(record, COUNTED_ENDPOINTS.indexOf('stream'), 7);
  before.close();
  const after = open(dir, 8, ['ninth', ...COUNTED_ENDPOINTS.toReversed()]);
  expect(byLease(after.leftovers)).toEqual({ 'lease-1': { latest: 5, stream: 7 } });
  addUnits(after.add(ownerOf(2)), 0, 3);
  for (const leftover of after.leftovers) leftover.free();
  expect(spoolFiles(dir)).toEqual(['0-1.v3.spool']); // the file of the old endpoints gets no new lease
  after.close();
  expect(byLease(open(dir).leftovers)).toEqual({ 'lease-2': { ninth: 3 } });
});

test('every count of many endpoints has its own place in a record', () => {
  const dir = newFolder();
  const endpoints = Array.from({ length: 40 }, (_, i) => `endpoint-${i}`);
  const spool = open(dir, 8, endpoints);
  addUnits(spool.add(ownerOf(1)), 39, 1);
  addUnits(spool.add(ownerOf(2)), 0, 2);
  spool.close();
  expect(byLease(open(dir, 8, endpoints).leftovers)).toEqual({
    'lease-1': { 'endpoint-39': 1 },
    'lease-2': { 'endpoint-0': 2 },
  });
});

test('a spool of a newer program is refused by its version, left as it is, and its slot is released', () => {
  const dir = newFolder();
  const bytes = newerSpool();
  replaceFile(dir, bytes);
  expect(() => open(dir)).toThrow('spool version 4; this program reads up to 3): run the newer openpit');
  expect(readFileSync(join(dir, '0-0.v3.spool')).equals(bytes)).toBe(true);
  rmSync(join(dir, '0-0.v3.spool'));
  open(dir);
});

test('a running process does not adopt the spool of a newer program', () => {
  const dir = newFolder();
  const [mine, other] = [open(dir), open(dir)];
  other.close();
  writeFileSync(join(dir, '1-0.v4.spool'), newerSpool());
  expect(mine.adopt()).toEqual([]);
  expect(warnings.join()).toContain('run the newer openpit');
  expect(spoolFiles(dir)).toEqual(['1-0.v4.spool']);
});

test('a file with a damaged header is renamed, and the spool keeps working', () => {
  const dir = newFolder();
  const broken = new Uint8Array(threeRecords());
  broken[20]! ^= 1;
  replaceFile(dir, broken);
  const spool = open(dir);
  expect(spool.leftovers).toEqual([]);
  expect(warnings.join()).toContain('the header is damaged');
  spool.add(ownerOf(1));
  expect(readdirSync(dir).sort()).toEqual(['0-0.v3.spool.damaged', '0-1.v3.spool', '0.lock']);
});

test('an account id of 63 characters fits; one that does not is refused by name', () => {
  const dir = newFolder();
  const spool = open(dir);
  const [leaseId, replica] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()];
  const owner = { accountId: 'x'.repeat(63), period: 202611, leaseId, replica };
  spool.add(owner);
  expect(() => spool.add({ ...owner, accountId: 'y'.repeat(64) })).toThrow('yyy');
  spool.close();
  expect(open(dir).leftovers.map((left) => left.owner)).toEqual([owner]);
});

test('a file truncated at any byte gives correct counts or none', () => {
  const [whole, dir] = [threeRecords(), newFolder()];
  for (let length = 0; length <= whole.length; length++) {
    replaceFile(dir, whole.subarray(0, length));
    const { leftovers } = open(dir);
    expect(leftovers.length).toBe(Math.max(0, Math.floor((length - HEADER_BYTES) / RECORD_BYTES)));
    expectRight(leftovers);
    opened.pop()!.close();
  }
});

test('a damaged file gives correct counts or none', () => {
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

function open(dir: string, recordsPerFile = 8, endpoints: readonly string[] = COUNTED_ENDPOINTS): Spool {
  const spool = new Spool({ dir, endpoints, recordsPerFile, warn: (text) => warnings.push(text) });
  opened.push(spool);
  return spool;
}

function ownerOf(n: number): Owner {
  return { accountId: `account-${n}`, period: 202611, leaseId: `lease-${n}`, replica: 'r1' };
}

function byLease(leftovers: readonly Leftover[]): Record<string, Record<string, number>> {
  return Object.fromEntries(leftovers.map(({ owner, spentBy }) => [owner.leaseId, spentBy]));
}

/** A header of the next layout version, before records that this program cannot read. */
function newerSpool(): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + 1_000).fill(0xff);
  writeSealed(bytes.subarray(0, HEADER_BYTES), { version: 4, endpoints: [] });
  return bytes;
}

function summary(leftovers: readonly Leftover[]): Record<string, number> {
  return Object.fromEntries(
    leftovers.map(({ owner, spentBy }) => [
      owner.leaseId,
      Object.values(spentBy).reduce((sum, n) => sum + n, 0),
    ]),
  );
}

/** Three records with 10, 20 and 30 in their first count. */
function threeRecords(): Buffer {
  const dir = newFolder();
  const spool = open(dir, 3);
  for (const n of [1, 2, 3]) addUnits(spool.add(ownerOf(n)), 0, n * 10);
  return readFileSync(join(dir, '0-0.v3.spool'));
}

/** A new file, so that memory maps of the old one stay intact. */
function replaceFile(dir: string, bytes: Uint8Array): void {
  rmSync(join(dir, '0-0.v3.spool'), { force: true });
  writeFileSync(join(dir, '0-0.v3.spool'), bytes);
}

function expectRight(leftovers: readonly Leftover[]): void {
  for (const { owner, spentBy } of leftovers) {
    const n = Number(owner.leaseId.slice('lease-'.length));
    expect(owner).toEqual(ownerOf(n));
    expect(spentBy).toEqual({ symbols: n * 10 });
  }
}

function spoolFiles(dir: string): string[] {
  return readdirSync(dir)
    .filter((name) => name.endsWith('.spool'))
    .sort();
}
