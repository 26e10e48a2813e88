import { afterEach, beforeEach, expect, test } from 'bun:test';
import { Ledger } from '../../src/ledger/ledger.ts';
import { HOLD_MS, LEASE_MS, type SyncAnswer, type SyncRequest } from '../../src/ledger/quota/model.ts';
import { type Period, periodOf, periodStart } from '../../src/ledger/quota/period.ts';
import { MS_PER_DAY } from '../../src/market/day.ts';
import { readyLedgerUrl } from '../support/database/ready-ledger.ts';
import { onEachEngine } from '../support/ledger.ts';
import { giveQuota } from '../support/quota.ts';

const THIS_MONTH = periodOf(Date.now());
const LAST_MONTH = monthBefore(THIS_MONTH);
const LONG_OVER = monthBefore(LAST_MONTH);

onEachEngine('leases that are folded', (engine) => {
  let url: string;
  let ledger: Ledger;

  beforeEach(async () => {
    url = await readyLedgerUrl(engine);
    ledger = await Ledger.open(url, { now: () => Date.now() });
    await giveQuota(ledger, 'ant', 1_000);
  });

  afterEach(async () => {
    expect(await ledger.quota.check()).toEqual([]);
    await ledger.close();
  });

  test('what is settled is folded when a whole month has passed since its month, and used stays', async () => {
    await settledLease(5);
    await settledLease(7);
    expect(await ledger.quota.foldSettled()).toBe(0);
    await moveTo(LAST_MONTH);
    expect(await ledger.quota.foldSettled()).toBe(0);
    await moveTo(LONG_OVER);
    expect(await ledger.quota.foldSettled()).toBe(2);
    expect(await leases()).toBe(0);
    expect(await used()).toBe(12);
    expect(await ledger.quota.check()).toEqual([]);
  });

  test('a final message that is repeated after the fold is not counted again', async () => {
    const lease = await settledLease(5);
    await moveTo(LONG_OVER);
    await ledger.quota.foldSettled();
    const again = { ...lease, period: LONG_OVER };
    expect(await sync(again)).toMatchObject({ state: 'closed', applied: false, spent: 5, used: 5 });
    expect(await sync({ ...again, close: false, seq: 2 })).toMatchObject({ state: 'closed', used: 5 });
    expect([await used(), await leases()]).toEqual([5, 0]);
  });

  test('a lease whose holder has not said its last word stays, and what it says late is counted once', async () => {
    await settledLease(5);
    const silent = await openLease();
    await sync({ ...silent, seq: 2, spentBy: { latest: 2 }, need: 10 });
    await ledger.engine.write(async (tx) => {
      await tx`UPDATE quota_holder SET expires_at = expires_at - ${LEASE_MS + HOLD_MS + 1_000}`;
    });
    expect(await ledger.quota.releaseLost()).toBe(1);
    await moveTo(LONG_OVER);
    expect(await ledger.quota.foldSettled()).toBe(1);
    expect(await leases()).toBe(1);
    const last = { ...silent, period: LONG_OVER, spentBy: { latest: 3 }, close: true };
    expect(await sync(last)).toMatchObject({ state: 'closed', used: 8 });
    expect(await ledger.quota.foldSettled()).toBe(1);
    expect(await sync(last)).toMatchObject({ state: 'closed', used: 8 });
    expect(await used()).toBe(8);
  });

  test('an open lease stays', async () => {
    await openLease();
    await moveTo(LONG_OVER);
    expect(await ledger.quota.foldSettled()).toBe(0);
    expect(await leases()).toBe(1);
  });

  test('an unknown lease of a month of which nothing was folded is a debt, as ever', async () => {
    const debt = { ...message(), period: LONG_OVER, spentBy: { latest: 4 }, close: true };
    expect(await sync(debt)).toMatchObject({ state: 'closed', applied: true, used: 4 });
  });

  test('folds and last words that come again race, and the count stays', async () => {
    const settled: SyncRequest[] = [];
    for (let i = 0; i < 20; i++) settled.push(await settledLease(1));
    await moveTo(LONG_OVER);
    const other = await Ledger.open(url, { now: () => Date.now() });
    const again = settled.map((one) => ({ ...one, period: LONG_OVER }));
    await Promise.all([
      ...again.map((one) => other.quota.sync([one])),
      ledger.quota.foldSettled(),
      other.quota.foldSettled(),
      ...again.map((one) => ledger.quota.sync([one])),
    ]);
    await ledger.quota.foldSettled();
    expect([await used(), await leases()]).toEqual([20, 0]);
    await other.close();
  });

  test('many are folded, some in each transaction', async () => {
    const many = Array.from({ length: 450 }, () => ({
      ...message(),
      period: LONG_OVER,
      spentBy: { latest: 1 },
      close: true,
    }));
    await ledger.quota.sync(many);
    expect(await ledger.quota.foldSettled()).toBe(450);
    expect([await used(), await leases()]).toEqual([450, 0]);
  });

  test('leases that were settled unused are deleted a day later, and no others', async () => {
    const open = await openLease();
    const used = await settledLease(3);
    const unused = await Promise.all(Array.from({ length: 30 }, () => settledLease(0)));
    expect(await ledger.quota.deleteUnused(8)).toBe(0);
    await ledger.engine.write((tx) => tx`UPDATE quota_lease SET expires_at = expires_at - ${2 * MS_PER_DAY}`);
    let deleted = 0;
    for (let call = 0; call < 5; call++) deleted += await ledger.quota.deleteUnused(8);
    expect(deleted).toBe(30);
    const left = await ledger.engine.read`SELECT lease_id FROM quota_lease`;
    expect(left.map((row) => row.lease_id).sort()).toEqual([open.leaseId, used.leaseId].sort());
    // The last message of a spool may be delivered twice.
    expect(await sync(unused[0]!)).toMatchObject({ state: 'closed', used: 3 });
  });

  async function openLease(): Promise<SyncRequest> {
    const opening = { ...message(), need: 10 };
    expect(await sync(opening)).toMatchObject({ state: 'open', granted: 10 });
    return opening;
  }

  /** Returns the last report of its holder. */
  async function settledLease(spent: number): Promise<SyncRequest> {
    const last = { ...(await openLease()), spentBy: { latest: spent }, need: 0, close: true };
    await sync(last);
    return last;
  }

  async function sync(request: SyncRequest): Promise<SyncAnswer> {
    const [answer] = await ledger.quota.sync([request]);
    expect(await ledger.quota.check()).toEqual([]);
    return answer!;
  }

  /** Moves everything to another month, since PostgreSQL's clock cannot be set. */
  async function moveTo(period: Period): Promise<void> {
    await ledger.engine.write(async (tx) => {
      await tx`UPDATE quota_lease SET period = ${period}`;
      await tx`UPDATE quota_period SET period = ${period}`;
      await tx`UPDATE usage_day SET period = ${period}`;
    });
  }

  async function used(): Promise<number> {
    return (await ledger.quota.usage('ant', LONG_OVER)).used;
  }

  async function leases(): Promise<number> {
    const [row] = await ledger.engine.read`SELECT count(*) AS n FROM quota_lease`;
    return Number(row!.n);
  }
});

function message(): SyncRequest {
  const nothing = { spentBy: {}, want: 0, need: 0, least: 0, barrierSeen: 0, close: false };
  return {
    leaseId: crypto.randomUUID(),
    accountId: 'ant',
    period: THIS_MONTH,
    replica: 'r1',
    seq: 1,
    ...nothing,
  };
}

function monthBefore(period: Period): Period {
  return periodOf(periodStart(period) - 1);
}
