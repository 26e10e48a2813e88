import { expect, test } from 'bun:test';
import { join } from 'node:path';
import fc from 'fast-check';
import { newFolder } from '../../../test/support/ledger.ts';
import { BurstLimits, shareOf } from './burst-limits.ts';

const NOW = Date.UTC(2026, 10, 16, 12);

const account = (id: string) => ({ id, windowTag: 0, windowAt: 0 });

test('the shares of all machines add up to the limit, and every machine has one', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), fc.integer({ min: 1, max: 200 }), (limit, machines) => {
      const shares = Array.from({ length: machines }, (_, rank) => shareOf(limit, machines, rank));
      const perSecond = shares.reduce((sum, share) => sum + (share.limit * 1_000) / share.windowMs, 0);
      expect(shares.every((share) => share.limit >= 1)).toBe(true);
      expect(perSecond).toBeLessThanOrEqual(limit + 1e-6);
      expect(perSecond).toBeGreaterThan(limit * 0.8);
    }),
  );
});

test('processes with the same data folder count together, others do not', () => {
  const path = join(newFolder(), 'burst');
  const [first, second] = [new BurstLimits(path), new BurstLimits(path)];
  const elsewhere = new BurstLimits(join(newFolder(), 'burst'));
  expect(second.machine).toBe(first.machine);
  expect(elsewhere.machine).not.toBe(first.machine);
  const [one, other] = [account('acc_1'), account('acc_1')];
  const takes = Array.from({ length: 20 }, (_, i) =>
    i % 2 ? first.take(one, NOW, 7) : second.take(other, NOW, 7),
  );
  expect(takes.filter(Boolean)).toHaveLength(7);
  expect(elsewhere.take(account('acc_1'), NOW, 7)).toBe(true);
  expect(first.take(account('acc_2'), NOW, 7)).toBe(true);
  expect(second.take(other, NOW + 1_000, 7)).toBe(true);
});

test('a process that read the clock before another one opened the window counts in that window', () => {
  const path = join(newFolder(), 'burst');
  const [first, second] = [new BurstLimits(path), new BurstLimits(path)];
  const [one, other] = [account('acc_1'), account('acc_1')];
  const takes = Array.from({ length: 20 }, (_, i) =>
    i % 2 ? second.take(other, NOW - i, 7) : first.take(one, NOW, 7),
  );
  expect(takes.filter(Boolean)).toHaveLength(7);
  expect(first.take(one, NOW - 60_000, 7)).toBe(true); // the clock was set back
});

test('a machine has its share of the limit, and all of it once the others are gone', () => {
  const limits = new BurstLimits(join(newFolder(), 'burst'));
  const one = account('acc_1');
  const allowed = (now: number) =>
    Array.from({ length: 50 }, () => limits.take(one, now, 20)).filter(Boolean).length;
  limits.setMachines([limits.machine, 'zz', '!!']);
  expect(allowed(NOW)).toBe(7); // 20 among three: 7, 7, 6
  limits.setMachines([limits.machine, '!', '!!']);
  expect(allowed(NOW + 1_000)).toBe(6);
  limits.setMachines([limits.machine]);
  expect(allowed(NOW + 2_000)).toBe(20);
});

test('100,000 accounts share the table without limiting each other', () => {
  const limits = new BurstLimits(join(newFolder(), 'burst'));
  const accounts = Array.from({ length: 100_000 }, (_, i) => account(`acc_${i}`));
  let now = NOW;
  let refused = 0;
  for (let i = 0; i < accounts.length; i++) {
    if (i % 2_000 === 0) now += 1_000; // 2,000 accounts a second
    for (let n = 0; n < 2; n++) if (!limits.take(accounts[i]!, now, 2)) refused++;
  }
  expect(refused).toBe(0);
});

test('100,000 accounts in the same second do not limit each other', () => {
  const limits = new BurstLimits(join(newFolder(), 'burst'));
  const accounts = Array.from({ length: 100_000 }, (_, i) => account(`acc_${i}`));
  let refused = 0;
  for (let n = 0; n < 2; n++) for (const one of accounts) if (!limits.take(one, NOW, 2)) refused++;
  expect(refused).toBe(0);
});

test('the windows of 10,000 accounts take less memory than a processor caches', () => {
  const limits = new BurstLimits(join(newFolder(), 'burst'));
  const accounts = Array.from({ length: 10_000 }, (_, i) => account(`acc_${i}`));
  for (const one of accounts) limits.take(one, NOW, 2);
  const offsets = accounts.map(({ windowAt }) => windowAt * Int32Array.BYTES_PER_ELEMENT);
  expect(offsets.filter((offset) => offset < 256 * 1024).length).toBeGreaterThan(9_900);
});

test('with an unwritable data folder the process applies the limit alone', () => {
  const limits = new BurstLimits('/proc/no-such-folder/burst');
  const one = account('acc_1');
  expect([1, 2, 3].map(() => limits.take(one, NOW, 2))).toEqual([true, true, false]);
});
