import { afterEach, expect, test } from 'bun:test';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from '../../../test/support/ledger.ts';
import { addUnits, byLease, OpenedSpools, ownerOf, spoolFiles } from '../../../test/support/spool.ts';
import { COUNTED_ENDPOINTS } from '../endpoints.ts';
import { writeSealed } from './sealed-json.ts';
import { HEADER_BYTES } from './spool-file.ts';
import { countUnsettled } from './unsettled.ts';

/** What programs wrote before the current version: 4 records, one of them freed. */
const OLDER = [
  {
    version: 1,
    suffix: '.spool',
    endpoints: COUNTED_ENDPOINTS.filter((name) => !/^(statistics|market)$/.test(name)),
  },
  { version: 2, suffix: '.v2.spool', endpoints: COUNTED_ENDPOINTS },
  { version: 3, suffix: '.v3.spool', endpoints: COUNTED_ENDPOINTS },
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

const spools = new OpenedSpools();
afterEach(() => spools.close());

test.each(OLDER)(
  'a spool of version $version is replayed exactly, and deleted when its counts are settled',
  (older) => {
    const dir = newFolder();
    copyFileSync(older.path, join(dir, `0-0${older.suffix}`));
    const spool = spools.open(dir);
    expect(byLease(spool.leftovers)).toEqual(older.counts);
    for (const { owner } of spool.leftovers)
      expect(owner).toMatchObject({ accountId: owner.leaseId.replace('lease', 'account'), period: 202611 });
    expect(spools.warnings).toEqual([]);
    spool.add(ownerOf(9)); // never into the old file
    expect(spoolFiles(dir)).toEqual([`0-0${older.suffix}`, '0-1.v4.spool']);
    for (const leftover of spool.leftovers) leftover.free();
    expect(spoolFiles(dir)).toEqual(['0-1.v4.spool']);
  },
);

test.each(OLDER)(
  'a crash while a spool of version $version is replayed keeps what was not settled',
  (older) => {
    const dir = newFolder();
    copyFileSync(older.path, join(dir, `0-0${older.suffix}`));
    const first = spools.open(dir);
    first.leftovers.find(({ owner }) => owner.leaseId === 'lease-1')!.free();
    first.close();
    expect(byLease(spools.open(dir).leftovers)).toEqual({ 'lease-2': { latest: 1_000_000 }, 'lease-4': {} });
  },
);

test.each(OLDER)('a spool of version $version that another process left is adopted', (older) => {
  const dir = newFolder();
  const [mine, other] = [spools.open(dir), spools.open(dir)];
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
  const before = spools.open(dir);
  const record = before.add(ownerOf(1));
  addUnits(record, COUNTED_ENDPOINTS.indexOf('latest'), 5);
  addUnits(record, COUNTED_ENDPOINTS.indexOf('stream'), 7);
  before.close();
  const after = spools.open(dir, 8, ['ninth', ...COUNTED_ENDPOINTS.toReversed()]);
  expect(byLease(after.leftovers)).toEqual({ 'lease-1': { latest: 5, stream: 7 } });
  addUnits(after.add(ownerOf(2)), 0, 3);
  for (const leftover of after.leftovers) leftover.free();
  expect(spoolFiles(dir)).toEqual(['0-1.v4.spool']); // the file of the old endpoints gets no new lease
  after.close();
  expect(byLease(spools.open(dir).leftovers)).toEqual({ 'lease-2': { ninth: 3 } });
});

test('a spool of a newer program is refused by its version, left as it is, and its slot is released', () => {
  const dir = newFolder();
  const bytes = newerSpool();
  writeFileSync(join(dir, '0-0.v4.spool'), bytes);
  expect(() => spools.open(dir)).toThrow(
    'spool version 5; this program reads up to 4): run the newer openpit',
  );
  expect(readFileSync(join(dir, '0-0.v4.spool')).equals(bytes)).toBe(true);
  rmSync(join(dir, '0-0.v4.spool'));
  spools.open(dir);
});

test('a running process does not adopt the spool of a newer program', () => {
  const dir = newFolder();
  const [mine, other] = [spools.open(dir), spools.open(dir)];
  other.close();
  writeFileSync(join(dir, '1-0.v5.spool'), newerSpool());
  expect(mine.adopt()).toEqual([]);
  expect(spools.warnings.join()).toContain('run the newer openpit');
  expect(spoolFiles(dir)).toEqual(['1-0.v5.spool']);
});

/** A header of the next layout version, before records that this program cannot read. */
function newerSpool(): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + 1_000).fill(0xff);
  writeSealed(bytes.subarray(0, HEADER_BYTES), { version: 5, endpoints: [] });
  return bytes;
}
