import { afterEach, beforeEach, expect, test } from 'bun:test';
import { Meter } from '../../src/gate/meter/meter.ts';
import type { MeterOptions } from '../../src/gate/meter/options.ts';
import type { LockSlot } from '../../src/gate/spool/slot-lock.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import type { SyncAnswer, SyncRequest } from '../../src/ledger/quota/model.ts';
import { periodOf } from '../../src/ledger/quota/period.ts';
import type { QuotaStore } from '../../src/ledger/quota/quota.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { readyLedgerUrl } from '../support/database/ready-ledger.ts';
import { newFolder, onEachEngine } from '../support/ledger.ts';
import { eventually } from '../support/program.ts';
import { giveQuota } from '../support/quota.ts';

const PERIOD = periodOf(Date.now());
const MOST = Number.MAX_SAFE_INTEGER;

/** As a kill leaves the slot of a spool. */
const unlocked: LockSlot = () => ({ release() {} });

onEachEngine('leases of a process that was killed', (engine) => {
  let ledger: Ledger;

  beforeEach(async () => {
    ledger = await Ledger.open(await readyLedgerUrl(engine), systemClock);
    await giveQuota(ledger, 'ant', 1_000);
  });

  afterEach(async () => {
    expect(await ledger.quota.check()).toEqual([]);
    await ledger.close();
  });

  test('go to the next process on its spool, which counts on without asking for units', async () => {
    const spoolDir = newFolder();
    const killed = await openMeter(spoolDir);
    for (let i = 0; i < 3; i++) await killed.spend({ id: 'ant' }, 'latest');
    const next = await openMeter(spoolDir);
    expect(next.spend({ id: 'ant' }, 'historical')).toMatchObject({ ok: true, remaining: 996 });
    expect(await leases()).toHaveLength(1);
    expect(await next.usage('ant')).toMatchObject({ used: 4, exact: true });
  });

  test('leave no process behind that others would share a quota with', async () => {
    const spoolDir = newFolder();
    await (await openMeter(spoolDir)).spend({ id: 'ant' }, 'latest');
    await openMeter(spoolDir);
    const other = await openMeter(newFolder());
    await giveQuota(ledger, 'bee', 1_000);
    await other.spend({ id: 'bee' }, 'latest');
    const [bee] = (await leases()).filter(({ account_id }) => account_id === 'bee');
    expect(Number(bee?.granted)).toBe(250); // of two processes, not of three
  });

  test('neither lose nor return units by a message that arrives late', async () => {
    const lease = { leaseId: crypto.randomUUID(), accountId: 'ant', period: PERIOD };
    const dead = { ...lease, replica: 'dead' };
    const { granted } = await sync({ ...dead, seq: 1, want: MOST, need: 1, least: 1 });
    const adopted = await sync({ ...lease, replica: 'next', seq: 7, spentBy: { latest: 2 }, adopt: true });
    expect(adopted).toMatchObject({ state: 'open', granted, spent: 2, seq: 7 });
    expect(await sync({ ...dead, seq: 2, spentBy: { latest: 1 } })).toMatchObject({ state: 'closed' });
    expect(await sync({ ...dead, seq: 3, close: true })).toMatchObject({ state: 'closed' });
    const after = await sync({ ...lease, replica: 'next', seq: 8, want: granted, spentBy: { latest: 5 } });
    expect(after).toMatchObject({ state: 'open', granted, spent: 5, used: 5, applied: true });
  });

  test('are adopted once, however often the message arrives', async () => {
    const lease = { leaseId: crypto.randomUUID(), accountId: 'ant', period: PERIOD };
    await sync({ ...lease, replica: 'dead', seq: 1, want: MOST, need: 1, least: 1 });
    const adoption = { ...lease, replica: 'next', seq: 7, spentBy: { latest: 2 }, adopt: true } as const;
    const first = await sync(adoption);
    await sync({ ...lease, replica: 'next', seq: 8, want: MOST, spentBy: { latest: 7 } });
    expect(await sync(adoption)).toMatchObject({ state: 'open', spent: 7, seq: 8 });
    expect(first).toMatchObject({ state: 'open', spent: 2 });
  });

  test('do not go back to a process that died while it adopted them', async () => {
    const lease = { leaseId: crypto.randomUUID(), accountId: 'ant', period: PERIOD };
    await sync({ ...lease, replica: 'dead', seq: 1, want: MOST, need: 1, least: 1 });
    const adoption = { ...lease, adopt: true } as const;
    await sync({ ...adoption, replica: 'last', seq: 20 });
    expect(await sync({ ...adoption, replica: 'second', seq: 10 })).toMatchObject({
      state: 'open',
      applied: false,
      seq: 20,
    });
    expect(await sync({ ...adoption, replica: 'second', seq: 10, close: true })).toMatchObject({
      state: 'open',
      applied: false,
    });
    expect(await sync({ ...lease, replica: 'last', seq: 21, want: MOST })).toMatchObject({
      state: 'open',
      applied: true,
    });
  });

  test('do not go back to a process that died after a slow start, whose adoption arrives late', async () => {
    const spoolDir = newFolder();
    await (await openMeter(spoolDir)).spend({ id: 'ant' }, 'latest');
    const late: SyncRequest[] = [];
    const slow = Object.create(ledger.quota) as typeof ledger.quota;
    slow.now = async () => {
      await Bun.sleep(300);
      return ledger.quota.now();
    };
    slow.sync = (requests) => {
      late.push(...requests);
      return new Promise(() => {});
    };
    void openMeter(spoolDir, { quota: slow });
    await eventually(async () => late.length === 1);
    const next = await openMeter(spoolDir);
    await ledger.quota.sync(late);
    expect(next.spend({ id: 'ant' }, 'latest')).toMatchObject({ ok: true });
    await next.close();
    const [lease] = await ledger.engine.read`SELECT replica, open FROM quota_lease`;
    expect(Number(lease!.open)).toBe(0);
    expect(lease!.replica).not.toBe(late[0]!.replica);
  });

  test('do not delay the next process: those that requests wait for are adopted first', async () => {
    await giveQuota(ledger, 'bee', 1_000);
    await giveQuota(ledger, 'cat', 1_000);
    const spoolDir = newFolder();
    const killed = await openMeter(spoolDir);
    for (const id of ['ant', 'bee', 'cat']) await killed.spend({ id }, 'latest');
    const ready = Promise.withResolvers<void>();
    const order: string[] = [];
    const slow = withSync(async (requests, sender) => {
      order.push(...requests.map(({ accountId }) => accountId));
      await ready.promise;
      return ledger.quota.sync(requests, sender);
    });
    const options = { ledger: { quota: slow }, clock: systemClock, spoolDir, lock: unlocked, batchMax: 1 };
    const next = await Meter.open(options);
    const [last, ...others] = [...(await leaseIds()).keys()].filter((id) => !order.includes(id)).reverse();
    const spend = next.spend({ id: last! }, 'latest');
    const usage = others.map((id) => next.usage(id));
    ready.resolve();
    expect(await spend).toMatchObject({ ok: true, remaining: 998 });
    for (const one of usage) expect(await one).toMatchObject({ used: 1, exact: true });
    expect(order.slice(0, 3)).toEqual([order[0]!, last!, ...others]);
    expect((await leaseIds()).size).toBe(3);
    await next.close();
  });

  test('that the ledger has released are settled, not adopted', async () => {
    const spoolDir = newFolder();
    await (await openMeter(spoolDir)).spend({ id: 'ant' }, 'latest');
    await ledger.engine.write(async (tx) => {
      await tx`UPDATE quota_holder SET expires_at = 1`;
    });
    expect(await ledger.quota.releaseLost()).toBe(1);
    const next = await openMeter(spoolDir);
    expect(next.known('ant')).toBeUndefined();
    expect((await ledger.quota.usage('ant', PERIOD)).used).toBe(1);
  });

  /** It is never closed if it stands for a process that is killed: the next one gets its spool. */
  function openMeter(spoolDir: string, calls: MeterOptions['ledger'] = ledger): Promise<Meter> {
    const scheduler = { after: () => () => {} }; // a killed process sends nothing more
    return Meter.open({ ledger: calls, clock: systemClock, spoolDir, lock: unlocked, scheduler });
  }

  /** The quota store, with another `sync`. */
  function withSync(sync: QuotaStore['sync']): QuotaStore {
    return new Proxy(ledger.quota, {
      get(target, name) {
        if (name === 'sync') return sync;
        const value = Reflect.get(target, name) as unknown;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  function leases() {
    return ledger.engine.read`SELECT account_id, granted FROM quota_lease`;
  }

  /** By account. */
  async function leaseIds(): Promise<Map<string, string>> {
    const rows = await ledger.engine.read`SELECT account_id, lease_id FROM quota_lease`;
    return new Map(rows.map((row) => [String(row.account_id), String(row.lease_id)]));
  }

  async function sync(message: Partial<SyncRequest>): Promise<SyncAnswer> {
    const rest = { spentBy: {}, seq: 0, want: 0, need: 0, least: 0, barrierSeen: 0, close: false };
    const [answer] = await ledger.quota.sync([{ ...rest, ...message } as SyncRequest]);
    return answer!;
  }
});
