import { expect, test } from 'bun:test';
import { newFolder } from '../../../test/support/ledger.ts';
import type { SyncAnswer } from '../../ledger/quota/model.ts';
import { COUNTED_ENDPOINTS } from '../endpoints.ts';
import { Spool } from '../spool/spool.ts';
import { Validity } from './holder.ts';
import { Lease } from './lease.ts';

const START = Date.UTC(2026, 10, 10);
/** No request is waiting. */
const NOBODY = { units: 0, least: 0 };

test('a unit is in the spool before the request is answered', () => {
  const { lease, record } = newLease({ granted: 5 });
  for (let i = 0; i < 3; i++) expect(lease.take(1, 1, START, 0)).toBe(true);
  expect(record.count(1)).toBe(3);
});

test('no more than the granted units are taken', () => {
  const { lease } = newLease({ granted: 3 });
  const taken = Array.from({ length: 5 }, () => lease.take(1, 1, START, 0));
  expect(taken).toEqual([true, true, true, false, false]);
});

test('several units are taken together or not at all, and are in the spool as one count', () => {
  const { lease, record } = newLease({ granted: 5, quota: 5 });
  expect(lease.take(1, 4, START, 0)).toBe(true);
  expect([record.count(1), lease.unspent, lease.remaining]).toEqual([4, 1, 1]);
  expect(lease.take(1, 2, START, 0)).toBe(false);
  expect([record.count(1), lease.unspent, lease.remaining]).toEqual([4, 1, 1]);
  expect(lease.take(1, 1, START, 0)).toBe(true);
  expect([record.count(1), lease.unspent, lease.remaining]).toEqual([5, 0, 0]);
});

test('units that are being returned cannot be taken, even before the ledger has them back', () => {
  const { lease } = newLease({ granted: 50 });
  lease.take(1, 1, START, 0);
  lease.recalled = true;
  expect(lease.syncRequest(NOBODY)).toMatchObject({ want: 1, need: 1 });
  expect(lease.take(1, 1, START, 0)).toBe(false);
});

test('a request without an answer is repeated under its own seq, the next one gets a new seq', () => {
  const { lease, apply } = newLease({ granted: 5 });
  expect([lease.syncRequest(NOBODY).seq, lease.syncRequest({ units: 1, least: 1 }).seq]).toEqual([2, 2]);
  apply({ granted: 5 });
  expect(lease.syncRequest(NOBODY).seq).toBe(3);
});

test('a process’s leases end when either clock says so, two seconds before the ledger does', () => {
  const { lease } = newLease({ granted: 5 });
  expect(lease.take(1, 1, START + 57_999, 57_999)).toBe(true);
  expect(lease.take(1, 1, START + 58_000, 0)).toBe(false); // the machine slept
  expect(lease.take(1, 1, START, 58_000)).toBe(false); // the clock was set back
});

test('a lease ends with the ledger’s month, whatever the local clock says', () => {
  const { lease, validity } = newLease({ granted: 5 });
  validity.extend(Date.UTC(2026, 11, 1) - 500, 60_000, { wall: START, mono: 0 });
  expect(lease.take(1, 1, START + 499, 499)).toBe(true);
  expect(lease.take(1, 1, START + 500, 500)).toBe(false);
  validity.extend(Date.UTC(2026, 11, 1), 60_000, { wall: START + 500, mono: 500 });
  expect(lease.take(1, 1, START + 500, 500)).toBe(false); // the process serves the next month
});

test('a process whose leases were released spends nothing', () => {
  const { lease, validity } = newLease({ granted: 5 });
  validity.extend(START, 0, { wall: START, mono: 0 });
  expect(lease.take(1, 1, START, 0)).toBe(false);
});

test('a sync is due when a quarter of the block is left, or a threshold of the quota is reached', () => {
  expect(newLease({ granted: 40, quota: 1_000, pool: 900 }).lease.refillAt).toBe(30);
  expect(newLease({ granted: 40, quota: 1_000, pool: 900, used: 740 }).lease.refillAt).toBe(10); // 75 %
  expect(newLease({ granted: 40, quota: 1_000, used: 500 }).lease.refillAt).toBe(250); // an empty pool
});

test('a threshold that is passed while the ledger has not answered is due for a report', () => {
  const { lease, apply } = newLease({ granted: 100, quota: 100 });
  lease.take(1, 90, START, 0);
  lease.syncRequest(NOBODY);
  lease.take(1, 9, START, 0);
  const answered = apply({ granted: 100, quota: 100, spent: 90, used: 90 });
  expect(lease.hasReachedThreshold(answered)).toBe(false);
  expect(lease.refillAt).toBe(100);
  lease.syncRequest(NOBODY);
  lease.take(1, 1, START, 0);
  const passed = apply({ granted: 100, quota: 100, spent: 99, used: 99 });
  expect(lease.hasReachedThreshold(passed)).toBe(true);
  lease.syncRequest(NOBODY);
  const reported = apply({ granted: 100, quota: 100, spent: 100, used: 100 });
  expect(lease.hasReachedThreshold(reported)).toBe(false);
});

test('the remaining units are the quota less what all replicas have used', () => {
  const { lease, apply } = newLease({ granted: 5 });
  lease.take(1, 1, START, 0);
  apply({ granted: 5, used: 40, spent: 0, quota: 100 });
  expect(lease.remaining).toBe(59); // 40 by others, 1 here that is not reported yet
  lease.take(1, 1, START, 0);
  expect(lease.remaining).toBe(58);
});

function newLease(first: Partial<SyncAnswer>) {
  const owner = { accountId: 'ant', period: 202611, leaseId: 'l1', replica: 'r1' };
  const spool = new Spool({
    dir: newFolder(),
    endpoints: COUNTED_ENDPOINTS,
    warn: () => {},
    recordsPerFile: 4,
  });
  const record = spool.add(owner);
  const validity = new Validity(owner.replica);
  const lease = new Lease(owner, record, validity);
  const apply = (change: Partial<SyncAnswer>) => {
    const answer = { ...ANSWER, ...change };
    lease.apply(answer);
    return answer;
  };
  validity.extend(START, 60_000, { wall: START, mono: 0 });
  lease.syncRequest(NOBODY);
  apply(first);
  return { lease, record, validity, apply };
}

const ANSWER: SyncAnswer = {
  leaseId: 'l1',
  state: 'open',
  seq: 1,
  applied: true,
  granted: 0,
  spent: 0,
  used: 0,
  quota: 100,
  pool: 0,
  heldByOthers: 0,
  recall: false,
  barrier: 0,
  now: START,
  leaseMs: 60_000,
};
