import { afterEach, expect, test } from 'bun:test';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { newFolder } from '../../../test/support/ledger.ts';
import { addUnits, OpenedSpools, ownerOf } from '../../../test/support/spool.ts';
import { COUNTED_ENDPOINTS } from '../endpoints.ts';
import type { Leftover } from './spool.ts';
import { HEADER_BYTES, layoutOf, SPOOL_VERSION } from './spool-file.ts';

const RECORD_BYTES = layoutOf(SPOOL_VERSION, COUNTED_ENDPOINTS.length).recordBytes;

/** More than one page of owners. */
const RECORDS = 512;
const PAGE_BYTES = 4_096;

const spools = new OpenedSpools();
afterEach(() => spools.close());

test('a file with a damaged header is renamed, and the spool keeps working', () => {
  const dir = newFolder();
  const broken = new Uint8Array(threeRecords());
  broken[20]! ^= 1;
  replaceFile(dir, broken);
  const spool = spools.open(dir);
  expect(spool.leftovers).toEqual([]);
  expect(spools.warnings.join()).toContain('the header is damaged');
  spool.add(ownerOf(1));
  expect(readdirSync(dir).sort()).toEqual(['0-0.v4.spool.damaged', '0-1.v4.spool', '0.lock']);
});

test('a file truncated at any byte gives correct counts or none', () => {
  const [whole, dir] = [threeRecords(), newFolder()];
  for (let length = 0; length <= whole.length; length++) {
    replaceFile(dir, whole.subarray(0, length));
    const { leftovers } = spools.open(dir);
    expect(leftovers.length).toBe(length < whole.length ? 0 : 3);
    expectRight(leftovers);
    spools.close();
  }
});

test('a file that is truncated in its second block has the counts of the first', () => {
  const [dir, records] = [newFolder(), 1_024];
  const spool = spools.open(dir, records);
  for (let n = 1; n <= records; n++) addUnits(spool.add(ownerOf(n)), 0, n * 10);
  spools.close();
  const whole = readFileSync(join(dir, '0-0.v4.spool'));
  for (const length of [whole.length - 1, HEADER_BYTES + (records / 2) * RECORD_BYTES]) {
    replaceFile(dir, whole.subarray(0, length));
    const { leftovers } = spools.open(dir);
    expect(leftovers.length).toBe(records / 2);
    expect(spools.warnings.join()).toContain('is truncated: 512 of its records are missing');
    expectRight(leftovers);
    spools.close();
  }
});

test('a power failure while pages are written gives no lease the counts of another', () => {
  const dir = newFolder();
  const path = join(dir, '0-0.v4.spool');
  const spool = spools.open(dir, RECORDS);
  const records = Array.from({ length: RECORDS }, (_, i) => spool.add(ownerOf(i + 1)));
  for (const record of records) addUnits(record, 0, 1_000);
  const before = readFileSync(path);
  for (const record of records) record.free();
  for (let i = 0; i < RECORDS; i++) addUnits(spool.add(ownerOf(RECORDS + i + 1)), 0, 1);
  const after = readFileSync(path);
  spools.close();
  const pages = Array.from({ length: after.length / PAGE_BYTES }, (_, i) => i * PAGE_BYTES);
  const changed = pages.filter(
    (at) => !before.subarray(at, at + PAGE_BYTES).equals(after.subarray(at, at + PAGE_BYTES)),
  );
  expect(changed.length).toBeGreaterThan(1);
  for (const at of changed) {
    for (const [old, recent] of [
      [before, after],
      [after, before],
    ] as const) {
      const mixed = Buffer.from(old);
      mixed.set(recent.subarray(at, at + PAGE_BYTES), at);
      replaceFile(dir, mixed);
      for (const { owner, spentBy } of spools.open(dir, RECORDS).leftovers)
        expect(spentBy).toEqual({
          symbols: Number(owner.leaseId.slice('lease-'.length)) > RECORDS ? 1 : 1_000,
        });
      spools.close();
    }
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
      expectRight(spools.open(dir).leftovers);
      spools.close();
    }),
    { numRuns: 500 },
  );
});

/** Three records with 10, 20 and 30 in their first count. */
function threeRecords(): Buffer {
  const dir = newFolder();
  const spool = spools.open(dir, 3);
  for (const n of [1, 2, 3]) addUnits(spool.add(ownerOf(n)), 0, n * 10);
  return readFileSync(join(dir, '0-0.v4.spool'));
}

/** A new file, so that memory maps of the old one stay intact. */
function replaceFile(dir: string, bytes: Uint8Array): void {
  rmSync(join(dir, '0-0.v4.spool'), { force: true });
  writeFileSync(join(dir, '0-0.v4.spool'), bytes);
}

function expectRight(leftovers: readonly Leftover[]): void {
  for (const { owner, spentBy } of leftovers) {
    const n = Number(owner.leaseId.slice('lease-'.length));
    expect(owner).toEqual(ownerOf(n));
    expect(spentBy).toEqual({ symbols: n * 10 });
  }
}
