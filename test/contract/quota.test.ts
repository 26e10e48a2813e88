import { afterEach, beforeEach, expect, test } from 'bun:test';
import { insertRows } from '../../src/ledger/engine/statements.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import type { SyncAnswer, SyncRequest } from '../../src/ledger/quota/model.ts';
import { periodOf } from '../../src/ledger/quota/period.ts';
import { readyLedgerUrl } from '../support/database/ready-ledger.ts';
import { onEachEngine } from '../support/ledger.ts';
import { giveQuota } from '../support/quota.ts';

/** PostgreSQL uses its own clock, so the tests use its current month. */
const PERIOD = periodOf(Date.now());

onEachEngine('quota', (engine) => {
  let url: string;
  let ledger: Ledger;
  /** SQLite uses this clock. */
  const clock = { now: () => Date.now() };

  beforeEach(async () => {
    url = await readyLedgerUrl(engine);
    ledger = await Ledger.open(url, clock);
    await giveQuota(ledger, 'ant', 100);
  });

  afterEach(async () => {
    expect(await ledger.quota.check()).toEqual([]);
    await ledger.close();
  });

  test('requests that wait are served up to the quota, whatever the block size', async () => {
    expect(await sync(newLease(), { want: 0, need: 64 })).toMatchObject({ granted: 64, pool: 36 });
    expect(await sync(newLease(), { want: 0, need: 64 })).toMatchObject({ granted: 36, pool: 0 });
  });

  test('a grant that would serve none of the waiting requests stays in the pool, with what the lease held', async () => {
    await sync(newLease(), { need: 60 });
    const lease = newLease();
    expect(await sync(lease, { need: 5 })).toMatchObject({ granted: 5, pool: 35 });
    const many = { seq: 2, spentBy: { latest: 2 }, need: 43, least: 43 };
    expect(await sync(lease, many)).toMatchObject({ granted: 2, pool: 38 });
    expect(await sync(newLease(), { need: 38, least: 38 })).toMatchObject({ granted: 38, pool: 0 });
  });

  test('a message sent again with the same seq changes nothing', async () => {
    const lease = newLease();
    await sync(lease, { need: 10 });
    lease.seq = 2;
    const first = await sync(lease, { spentBy: { latest: 4 }, need: 20 });
    const again = await sync(lease, { spentBy: { latest: 4 }, need: 30 });
    expect(first).toMatchObject({ applied: true, granted: 20, spent: 4, used: 4 });
    expect(again).toMatchObject({ applied: false, granted: 20, spent: 4, used: 4 });
  });

  test('an older message that arrives late changes nothing', async () => {
    const lease = newLease();
    await sync(lease, { need: 10 });
    await sync({ ...lease, seq: 3 }, { need: 20 });
    expect(await sync({ ...lease, seq: 2 }, { want: 0 })).toMatchObject({ applied: false, granted: 20 });
  });

  test('a lease whose first answer was lost is opened once', async () => {
    const lease = newLease();
    await sync(lease, { need: 10 });
    expect(await sync(lease, { need: 10 })).toMatchObject({ applied: false, granted: 10, pool: 90 });
  });

  test('unused units return to the pool', async () => {
    const lease = newLease();
    await sync(lease, { need: 60 });
    lease.seq = 2;
    expect(await sync(lease, { spentBy: { latest: 5 }, want: 8 })).toMatchObject({ granted: 8, pool: 92 });
  });

  test('a lease never returns spent units', async () => {
    const lease = newLease();
    await sync(lease, { need: 60 });
    lease.seq = 2;
    expect(await sync(lease, { spentBy: { latest: 50 }, want: 10 })).toMatchObject({ granted: 50, pool: 50 });
  });

  test('closing settles at what was spent, and is idempotent', async () => {
    const lease = newLease();
    await sync(lease, { need: 60 });
    const close = { spentBy: { latest: 5, symbols: 2 }, close: true };
    expect(await sync(lease, close)).toMatchObject({ state: 'closed', spent: 7, used: 7, pool: 93 });
    expect(await sync(lease, close)).toMatchObject({ state: 'closed', spent: 7, used: 7, pool: 93 });
  });

  test('a closed lease still counts what its holder spent before it learned of the close', async () => {
    const lease = newLease();
    await sync(lease, { need: 60 });
    await sync(lease, { spentBy: { latest: 5 }, close: true });
    lease.seq = 2;
    const late = await sync(lease, { spentBy: { latest: 9 }, need: 20 });
    expect(late).toMatchObject({ state: 'closed', spent: 9, used: 9, pool: 91 });
  });

  test('a spool of a lease that the ledger does not know is recorded as a closed lease', async () => {
    const close = { spentBy: { latest: 12 }, close: true };
    const lease = newLease();
    expect(await sync(lease, close)).toMatchObject({ state: 'closed', spent: 12, used: 12, pool: 88 });
    expect(await sync(lease, close)).toMatchObject({ state: 'closed', spent: 12, used: 12, pool: 88 });
  });

  test('a spool of an earlier month lands in that month, on its last day at most', async () => {
    const lease = { ...newLease(), period: 202401 };
    expect(await sync(lease, { spentBy: { latest: 3 }, close: true })).toMatchObject({ used: 3 });
    const lastDay = Date.UTC(2024, 0, 31) / 86_400_000;
    expect(await ledger.quota.usageByDay('ant', 0, lastDay)).toEqual([
      { day: lastDay, endpoint: 'latest', count: 3 },
    ]);
    expect(await ledger.quota.usage('ant', PERIOD)).toMatchObject({ used: 0 });
  });

  test('a lease is opened only in the month of the ledger', async () => {
    const lease = { ...newLease(), period: 202401 };
    const answer = await sync(lease, { need: 5 });
    expect(answer).toMatchObject({ state: 'elsewhere', granted: 0 });
    expect(periodOf(answer.now)).toBe(PERIOD);
  });

  test('a request that is left waiting recalls what others hold', async () => {
    const holder = newLease();
    await sync(holder, { need: 100 });
    expect(await sync(newLease(), { need: 1 })).toMatchObject({
      granted: 0,
      heldByOthers: 100,
      recall: true,
    });
    const [signal] = await ledger.quota.signals(holder.replica);
    expect(signal).toMatchObject({ accountId: 'ant', period: PERIOD });
    expect(signal!.recallAt).toBeGreaterThan(0);
    holder.seq = 2;
    expect(await sync(holder, { want: 40 })).toMatchObject({ recall: true, granted: 40, pool: 60 });
  });

  test('during a recall nobody gets more than waiting requests need', async () => {
    const holder = newLease();
    await sync(holder, { need: 100 });
    await sync(newLease(), { need: 1 });
    holder.seq = 2;
    await sync(holder, { want: 0 });
    expect(await sync(newLease(), { need: 3, want: 50 })).toMatchObject({ granted: 3 });
  });

  test('a lowered plan takes effect in the next sync, and nothing is granted above it', async () => {
    const lease = newLease();
    await sync(lease, { need: 60 });
    await giveQuota(ledger, 'ant', 50);
    lease.seq = 2;
    const answer = await sync(lease, { spentBy: { latest: 60 }, need: 61 });
    expect(answer).toMatchObject({ granted: 60, pool: 0, quota: 50, used: 60 });
  });

  test('usage is exact when every open lease has seen the barrier', async () => {
    const lease = newLease();
    await sync(lease, { need: 10 });
    const barrier = await ledger.quota.raiseBarrier('ant', PERIOD);
    lease.seq = 2;
    await sync(lease, { spentBy: { latest: 1 }, need: 10, barrierSeen: barrier - 1 });
    expect(await ledger.quota.usage('ant', PERIOD)).toMatchObject({ used: 1, behind: 1 });
    lease.seq = 3;
    await sync(lease, { spentBy: { latest: 2 }, need: 10, barrierSeen: barrier });
    expect(await ledger.quota.usage('ant', PERIOD)).toMatchObject({ used: 2, behind: 0, quota: 100 });
  });

  test('usage by day and endpoint adds up, also when a message comes twice', async () => {
    const lease = newLease();
    await sync(lease, { need: 10 });
    lease.seq = 2;
    for (let i = 0; i < 3; i++) await sync(lease, { spentBy: { latest: 4, symbols: 1 }, need: 10 });
    await sync(lease, { spentBy: { latest: 6, symbols: 1 }, close: true });
    const days = await ledger.quota.usageByDay('ant', 0, 100_000);
    expect(days.map(({ endpoint, count }) => [endpoint, count])).toEqual([
      ['latest', 6],
      ['symbols', 1],
    ]);
  });

  test('each threshold is reported once in a month', async () => {
    const lease = newLease();
    await sync(lease, { need: 100 });
    for (const latest of [74, 75, 76, 91, 100]) {
      lease.seq++;
      await sync(lease, { spentBy: { latest }, need: 100 });
    }
    const events = await ledger.quota.events('ant');
    expect(events.map(({ percent, used, quota }) => [percent, used, quota])).toEqual([
      [75, 75, 100],
      [90, 91, 100],
      [100, 100, 100],
    ]);
    await ledger.quota.eventSent(events[0]!, 5);
    const claims = await Promise.all([1, 2, 3].map(() => ledger.quota.claimEvents(() => 60_000)));
    expect(
      claims
        .flat()
        .map(({ percent }) => percent)
        .sort(),
    ).toEqual([100, 90]); // by one of the three
    expect(await ledger.quota.claimEvents(() => 0)).toEqual([]);
  });

  test('after the quota was raised, the thresholds of the new one are reported, too', async () => {
    const lease = newLease();
    const spend = async (latest: number) => {
      lease.seq++;
      await sync(lease, { spentBy: { latest }, need: 1_000 });
      return (await ledger.quota.claimEvents(() => 60_000)).map(({ percent, quota }) => [percent, quota]);
    };
    lease.seq = 0;
    await spend(0);
    expect((await spend(100)).sort()).toEqual([
      [100, 100],
      [75, 100],
      [90, 100],
    ]);
    const [old] = await ledger.quota.events('ant');
    await giveQuota(ledger, 'ant', 200);
    expect(await spend(101)).toEqual([]);
    expect(await spend(150)).toEqual([[75, 200]]);
    await ledger.quota.eventSent(old!, 5); // of the old quota, so the new event stays unsent
    const events = await ledger.quota.events('ant');
    expect(events.find(({ percent }) => percent === 75)).toMatchObject({ used: 150, sentAt: null });
    expect(await spend(160)).toEqual([]);
    expect((await spend(200)).sort()).toEqual([
      [100, 200],
      [90, 200],
    ]);
  });

  test('of many undelivered events, some are claimed at a time, the oldest first, until all are', async () => {
    await ledger.engine.write((tx) =>
      insertRows(
        ledger.engine,
        tx,
        'quota_event (account_id, period, percent, used, quota, at)',
        Array.from({ length: 250 }, (_, i) => [`acc_${i}`, PERIOD, 75, 75, 100, 1_000 - i]),
      ),
    );
    const claim = () => ledger.quota.claimEvents(() => 60_000);
    const first = await claim();
    expect(first).toHaveLength(100);
    expect(Math.max(...first.map(({ at }) => at))).toBe(850);
    const others = await Promise.all([claim(), claim(), claim()]);
    const claimed = [...first, ...others.flat(), ...(await claim())].map(({ accountId }) => accountId);
    expect(claimed).toHaveLength(250);
    expect(new Set(claimed).size).toBe(250);
  });

  test('many leases that ask at once never get more than the quota', async () => {
    await giveQuota(ledger, 'ant', 70);
    const answers = await Promise.all(Array.from({ length: 30 }, () => sync(newLease(), { need: 5 })));
    expect(answers.reduce((sum, answer) => sum + answer.granted, 0)).toBe(70);
  });

  test('transactions over the same accounts in any order do not undo each other', async () => {
    const ids = ['a1', 'a2', 'a3', 'a4', 'a5'];
    for (const id of ids) await giveQuota(ledger, id, 1_000);
    const second = await Ledger.open(url, clock);
    const leases = [ledger, second].flatMap((on) =>
      Array.from({ length: 4 }, () => ({ on, parts: ids.map((id) => newLease(id)) })),
    );
    for (let round = 1; round <= 6; round++) {
      await Promise.all(
        leases.map(({ on, parts }, i) => {
          const turned = parts.map((part) => {
            part.seq = round;
            return message(part, { spentBy: { latest: round - 1 }, need: round });
          });
          return on.quota.sync(i % 2 ? turned : turned.reverse());
        }),
      );
      expect(await ledger.quota.check()).toEqual([]);
    }
    for (const id of ids) expect(await ledger.quota.usage(id, PERIOD)).toMatchObject({ used: 40 });
    await second.close();
  });

  test('reports about a month that the ledger has lost are all recorded, also when several processes send them at once', async () => {
    const processes = [ledger, ...(await Promise.all([1, 2, 3].map(() => Ledger.open(url, clock))))];
    await Promise.all(
      processes.map((on) => {
        const lease = { ...newLease(), seq: 5 };
        return on.quota.sync([message(lease, { spentBy: { latest: 3, symbols: 1 } })]);
      }),
    );
    expect(await ledger.quota.usage('ant', PERIOD)).toMatchObject({ used: 16 });
    for (const on of processes.slice(1)) await on.close();
  });

  test('several leases of one account in one report are added up', async () => {
    const leases = Array.from({ length: 3 }, () => newLease());
    await ledger.quota.sync(leases.map((lease) => message(lease, { need: 10 })));
    await ledger.quota.sync(
      leases.map((lease) =>
        message({ ...lease, seq: 2 }, { spentBy: { latest: 2, historical: 1 }, want: 10 }),
      ),
    );
    expect(await ledger.quota.usage('ant', PERIOD)).toMatchObject({ used: 9 });
    const days = await ledger.quota.usageByDay('ant', 0, 100_000);
    expect(days.map(({ endpoint, count }) => [endpoint, count]).sort()).toEqual([
      ['historical', 3],
      ['latest', 6],
    ]);
  });

  test('answers come in the order of the requests', async () => {
    await giveQuota(ledger, 'bee', 10);
    const [bee, ant] = [newLease('bee'), newLease('ant')];
    const answers = await ledger.quota.sync([message(bee, { need: 2 }), message(ant, { need: 3 })]);
    expect(answers.map((answer) => answer.leaseId)).toEqual([bee.leaseId, ant.leaseId]);
  });

  test('an unknown account has no quota', async () => {
    expect(await sync(newLease('nobody'), { need: 1 })).toMatchObject({ granted: 0, quota: 0 });
  });

  test('the check names the account whose numbers do not add up', async () => {
    await sync(newLease(), { need: 10 });
    await ledger.engine.write(async (tx) => {
      await tx`UPDATE quota_period SET granted = 11`;
    });
    const wrong = await ledger.quota.check();
    expect(wrong).toEqual([
      `account ant, month ${PERIOD}: the period records 11 granted, its leases add up to 10`,
    ]);
    await ledger.engine.write(async (tx) => {
      await tx`UPDATE quota_period SET granted = 10`;
    });
  });

  async function sync(lease: TestLease, change: Partial<SyncRequest>): Promise<SyncAnswer> {
    const [answer] = await ledger.quota.sync([message(lease, change)]);
    expect(await ledger.quota.check()).toEqual([]);
    return answer!;
  }
});

type TestLease = Pick<SyncRequest, 'leaseId' | 'accountId' | 'period' | 'replica' | 'seq'>;

function newLease(accountId = 'ant'): TestLease {
  return { leaseId: crypto.randomUUID(), accountId, period: PERIOD, replica: crypto.randomUUID(), seq: 1 };
}

function message(lease: TestLease, change: Partial<SyncRequest>): SyncRequest {
  return { ...lease, spentBy: {}, want: 0, need: 0, least: 0, barrierSeen: 0, close: false, ...change };
}
