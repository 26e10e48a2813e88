import { afterEach, beforeEach, expect, test } from 'bun:test';
import { Ledger } from '../../src/ledger/ledger.ts';
import { HOLD_MS, LEASE_MS, type SyncAnswer, type SyncRequest } from '../../src/ledger/quota/model.ts';
import { periodOf } from '../../src/ledger/quota/period.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { readyLedgerUrl } from '../support/database/ready-ledger.ts';
import { onEachEngine } from '../support/ledger.ts';
import { giveQuota } from '../support/quota.ts';

/** PostgreSQL uses its own clock, so the tests use its current month. */
const PERIOD = periodOf(Date.now());

/** As much as the ledger gives. */
const MOST = Number.MAX_SAFE_INTEGER;

onEachEngine('processes that hold leases', (engine) => {
  let ledger: Ledger;

  beforeEach(async () => {
    ledger = await Ledger.open(await readyLedgerUrl(engine), systemClock);
    await giveQuota(ledger, 'ant', 100);
  });

  afterEach(() => ledger.close());

  test('a lease of the only process gets half of what is left, and as much again when that is spent', async () => {
    await giveQuota(ledger, 'bee', 10_000);
    const lease = newLease('bee');
    const answer = await sync(lease, { want: MOST, need: 3 });
    expect(answer).toMatchObject({
      state: 'open',
      applied: true,
      granted: 5_000,
      pool: 5_000,
      quota: 10_000,
    });
    expect(answer.leaseMs).toBe(LEASE_MS);
    lease.seq = 2;
    const next = await sync(lease, { spentBy: { latest: 4_000 }, want: MOST, need: 4_000 });
    expect(next).toMatchObject({ granted: 7_000, pool: 3_000 });
  });

  test('a process that joins gets its share at once, and half of what is left stays in the pool', async () => {
    await giveQuota(ledger, 'bee', 10_000);
    await sync(newLease('bee'), { want: MOST, need: 1 });
    expect(await sync(newLease('bee'), { want: MOST, need: 1 })).toMatchObject({
      granted: 1_250,
      pool: 3_750,
    });
  });

  test('the number of syncs grows with the logarithm of the quota', async () => {
    await giveQuota(ledger, 'bee', 1_000_000);
    const lease = newLease('bee');
    let answer = await sync(lease, { want: MOST, need: 1 });
    for (; answer.pool > 0; lease.seq++) {
      const spent = Math.max(1, answer.granted - Math.floor((answer.granted - answer.spent) / 4));
      lease.seq++;
      answer = await sync(lease, { spentBy: { latest: spent }, want: MOST, need: spent + 1 });
    }
    expect(lease.seq / 2).toBeLessThan(2 * Math.log2(1_000_000));
  });

  test('a silent lease keeps its block for the whole hold, and then gives it back', async () => {
    const lease = newLease();
    await sync(lease, { need: 100 });
    lease.seq = 2;
    await sync(lease, { spentBy: { latest: 30 }, need: 100 });
    await rewind(ledger, LEASE_MS + HOLD_MS - 5_000);
    expect(await ledger.quota.releaseLost()).toBe(0);
    await rewind(ledger, 10_000);
    expect(await ledger.quota.releaseLost()).toBe(1);
    expect(await sync(newLease(), { need: 100 })).toMatchObject({ granted: 70, used: 30 });
  });

  test('a lost process gives back the units of hundreds of accounts at once', async () => {
    const { replica } = newLease();
    for (let i = 0; i < 250; i++) {
      await giveQuota(ledger, `bee-${i}`, 100);
      await sync({ ...newLease(`bee-${i}`), replica }, { need: 100 });
    }
    await rewind(ledger, LEASE_MS + HOLD_MS + 1_000);
    expect(await ledger.quota.releaseLost()).toBe(250);
    expect(await sync(newLease('bee-249'), { need: 100 })).toMatchObject({ granted: 100 });
    expect(await ledger.quota.check()).toEqual([]);
  });

  test('a process whose leases were released gets nothing under its old name', async () => {
    const lease = newLease();
    await sync(lease, { need: 10 });
    await rewind(ledger, LEASE_MS + HOLD_MS + 1_000);
    await ledger.quota.releaseLost();
    expect(await ledger.quota.renew(lease.replica)).toMatchObject({ leaseMs: 0 });
    const another = { ...newLease(), replica: lease.replica };
    expect(await sync(another, { need: 1 })).toMatchObject({ state: 'elsewhere', granted: 0, leaseMs: 0 });
    expect(await sync(newLease(), { need: 1 })).toMatchObject({
      state: 'open',
      granted: 1,
      leaseMs: LEASE_MS,
    });
  });

  test('a process renews all of its leases at once', async () => {
    const lease = newLease();
    await sync(lease, { need: 10 });
    await rewind(ledger, LEASE_MS + HOLD_MS + 1_000);
    expect(await ledger.quota.renew(lease.replica)).toMatchObject({ leaseMs: LEASE_MS });
    expect(await ledger.quota.releaseLost()).toBe(0);
  });

  test('a process that has left does not reduce the blocks of the others', async () => {
    const gone = newLease();
    await sync(gone, { need: 1 });
    gone.seq = 2;
    await sync(gone, { close: true });
    await ledger.quota.leave(gone.replica);
    expect(await sync(newLease(), { want: MOST, need: 1 })).toMatchObject({ granted: 50 });
  });

  test('a signal is for the holders of an account, is read once, and spares its sender', async () => {
    const [asking, holder, other] = [newLease(), newLease(), { ...newLease('bee') }];
    await giveQuota(ledger, 'bee', 100);
    for (const lease of [asking, holder, other]) await sync(lease, { need: 1 });
    const barrier = await ledger.quota.raiseBarrier('ant', PERIOD, asking.replica);
    const read = () =>
      Promise.all([asking, holder, other].map(({ replica }) => ledger.quota.signals(replica)));
    expect(await read()).toEqual([[], [{ accountId: 'ant', period: PERIOD, barrier, recallAt: 0 }], []]);
    expect(await read()).toEqual([[], [], []]);
  });

  test('a lowered plan recalls the units above it', async () => {
    const lease = newLease();
    await sync(lease, { want: MOST, need: 1 });
    await giveQuota(ledger, 'ant', 20);
    lease.seq = 2;
    expect(await sync(lease, { want: MOST, spentBy: { latest: 5 } })).toMatchObject({
      recall: true,
      quota: 20,
    });
    lease.seq = 3;
    expect(await sync(lease, { want: 5 })).toMatchObject({ granted: 5, pool: 15, recall: false });
  });

  /** Applies one message and checks the invariant. */
  async function sync(lease: TestLease, change: Partial<SyncRequest>): Promise<SyncAnswer> {
    const rest = { spentBy: {}, want: 0, need: 0, least: 0, barrierSeen: 0, close: false };
    const [answer] = await ledger.quota.sync([{ ...lease, ...rest, ...change }]);
    expect(await ledger.quota.check()).toEqual([]);
    return answer!;
  }
});

type TestLease = Pick<SyncRequest, 'leaseId' | 'accountId' | 'period' | 'replica' | 'seq'>;

/** A lease of a process of its own. */
function newLease(accountId = 'ant'): TestLease {
  return { leaseId: crypto.randomUUID(), accountId, period: PERIOD, replica: crypto.randomUUID(), seq: 1 };
}

/** Makes every holder older, since PostgreSQL's clock cannot be set. */
async function rewind(ledger: Ledger, ms: number): Promise<void> {
  await ledger.engine.write(async (tx) => {
    await tx`UPDATE quota_holder SET expires_at = expires_at - ${ms}`;
  });
}
