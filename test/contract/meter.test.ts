import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { COUNTED_ENDPOINTS, type CountedEndpoint } from '../../src/gate/endpoints.ts';
import { Meter } from '../../src/gate/meter/meter.ts';
import type { MeterOptions } from '../../src/gate/meter/options.ts';
import type { Spend } from '../../src/gate/meter/spend.ts';
import { Spool } from '../../src/gate/spool/spool.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { periodEnd, periodOf } from '../../src/ledger/quota/period.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { systemScheduler } from '../../src/runtime/scheduler.ts';
import { readyLedgerUrl } from '../support/database/ready-ledger.ts';
import { newFolder, onEachEngine } from '../support/ledger.ts';
import { eventually } from '../support/program.ts';
import { giveQuota } from '../support/quota.ts';
import { addUnits } from '../support/spool.ts';

onEachEngine('meter', (engine) => {
  let ledger: Ledger;
  let ledgers: Ledger[];
  let meters: Meter[];

  beforeEach(async () => {
    const url = await readyLedgerUrl(engine);
    ledger = await Ledger.open(url, systemClock);
    // As in production, each replica has its own connection to the ledger and its own disk.
    ledgers = await Promise.all([1, 2, 3].map(() => Ledger.open(url, systemClock)));
    meters = await Promise.all(ledgers.map((each) => openMeter(each)));
    await giveQuota(ledger, 'ant', 1_000);
  });

  afterEach(async () => {
    await Promise.all(meters.map((meter) => meter.close()));
    expect(await ledger.quota.check()).toEqual([]);
    await Promise.all([ledger, ...ledgers].map((each) => each.close()));
  });

  test('64 connections that ask 2,000 times get exactly 1,000 answers', async () => {
    const spends = await askMany(meters.slice(0, 1), 2_000, 64);
    expect(spends.filter((spend) => spend.ok).length).toBe(1_000);
    expect(spends.filter((spend) => !spend.ok && spend.reason === 'exhausted').length).toBe(1_000);
  });

  test('three replicas together give exactly the quota', async () => {
    const spends = await askMany(meters, 1_500, 48);
    expect(spends.filter((spend) => spend.ok).length).toBe(1_000);
    expect(await meters[0]!.usage('ant')).toMatchObject({ used: 1_000, quota: 1_000, exact: true });
  });

  test('usage is exact over replicas', async () => {
    await askMany(meters, 90, 3);
    expect(await meters[1]!.usage('ant')).toMatchObject({ used: 90, exact: true });
  });

  test('usage is exact on one replica at once, and concurrent reads share the answer', async () => {
    await askMany(meters.slice(0, 1), 7, 1);
    const answers = await Promise.all([1, 2, 3].map(() => meters[0]!.usage('ant')));
    expect(answers.map(({ used, exact }) => [used, exact])).toEqual(new Array(3).fill([7, true]));
  });

  test('usage on the only replica that holds a lease writes nothing to the ledger', async () => {
    const [{ quota }] = ledgers as [Ledger];
    await askMany(meters.slice(0, 1), 5, 1);
    const raised = spyOn(quota, 'raiseBarrier');
    const synced = spyOn(quota, 'sync');
    expect(await meters[0]!.usage('ant')).toMatchObject({ used: 5, quota: 1_000, exact: true });
    expect(raised).not.toHaveBeenCalled();
    expect(synced).not.toHaveBeenCalled();
    await askMany(meters.slice(1, 2), 3, 1);
    expect(await meters[0]!.usage('ant')).toMatchObject({ used: 8, exact: true });
    expect(raised).toHaveBeenCalledTimes(1);
    expect(await meters[2]!.usage('ant')).toMatchObject({ used: 8, exact: true });
  });

  test('the first request of an account asks the ledger, the next ones do not', async () => {
    const [meter] = meters;
    expect(meter!.known('ant')).toBeUndefined();
    expect(await meter!.spend({ id: 'ant' }, 'latest')).toMatchObject({ ok: true, remaining: 999 });
    const next = meter!.spend({ id: 'ant' }, 'latest');
    expect(next).toMatchObject({ ok: true, remaining: 998 });
    expect(meter!.known('ant')).toMatchObject({ remaining: 998, quota: 1_000 });
  });

  test('a closed meter has reported everything to the ledger', async () => {
    await askMany(meters, 100, 10);
    await Promise.all(meters.map((meter) => meter.close()));
    const period = periodOf(Date.now());
    expect(await ledger.quota.usage('ant', period)).toMatchObject({ used: 100, behind: 0 });
    expect(await meters[0]!.spend({ id: 'ant' }, 'latest')).toMatchObject({
      ok: false,
      reason: 'unavailable',
    });
  });

  test('a refusal states the seconds until the next month', async () => {
    await giveQuota(ledger, 'ant', 0);
    const secondsLeft = () => (end - Date.now()) / 1_000;
    const end = periodEnd(periodOf(Date.now()));
    const before = secondsLeft();
    const spend = await meters[0]!.spend({ id: 'ant' }, 'latest');
    const after = secondsLeft();
    expect(meters[0]!.resetAt()).toBe(end);
    if (spend.ok) throw new Error('there was nothing to spend');
    expect(spend.reason).toBe('exhausted');
    // The ledger has its own clock, and times are reported in whole seconds.
    expect(spend.retryAfterSeconds).toBeWithin(Math.floor(after) - 1, Math.ceil(before) + 2);
  });

  test('several units are spent together, or none of them when the quota is short by one', async () => {
    const [meter] = meters;
    const ant = { id: 'ant' };
    expect(await meter!.spend(ant, 'history', undefined, 600)).toMatchObject({ ok: true, remaining: 400 });
    expect(await meter!.spend(ant, 'history', undefined, 401)).toMatchObject({
      ok: false,
      reason: 'exhausted',
    });
    expect(await meter!.usage('ant')).toMatchObject({ used: 600, exact: true });
    expect(await meter!.spend(ant, 'latest')).toMatchObject({ ok: true, remaining: 399 });
    expect(await meter!.spend(ant, 'history', undefined, 399)).toMatchObject({ ok: true, remaining: 0 });
    expect(await meter!.spend(ant, 'latest')).toMatchObject({ ok: false, reason: 'exhausted' });
    expect(await meter!.usage('ant')).toMatchObject({ used: 1_000, exact: true });
  });

  test('a refusal of many units does not refuse fewer that are left', async () => {
    const [meter] = meters;
    const sizes = [2_000, 1_001, 1, 500, 700, 499, 1];
    const spends = await Promise.all(
      sizes.map((units) => meter!.spend({ id: 'ant' }, 'history', undefined, units)),
    );
    expect(spends.map(({ ok }) => ok)).toEqual([false, false, true, true, false, true, false]);
    expect(await meter!.usage('ant')).toMatchObject({ used: 1_000, exact: true });
  });

  test('units that other replicas hold are called back for a request that needs many', async () => {
    for (const meter of meters)
      expect(await meter.spend({ id: 'ant' }, 'latest')).toMatchObject({ ok: true });
    expect(await meters[0]!.spend({ id: 'ant' }, 'history', undefined, 997)).toMatchObject({ ok: true });
    expect(await meters[1]!.usage('ant')).toMatchObject({ used: 1_000, exact: true });
  });

  test('units of a replica that does not respond are not used up: requests are refused as unavailable until it returns them', async () => {
    const impatient = { monotonic: performance, scheduler: systemScheduler };
    const [silent, other] = await Promise.all(ledgers.slice(0, 2).map((each) => openMeter(each, impatient)));
    meters.push(silent!, other!);
    const ant = { id: 'ant' };
    await silent!.spend(ant, 'latest');
    const sync = spyOn(ledgers[0]!.quota, 'sync').mockRejectedValue(new Error('no connection'));
    expect(await other!.spend(ant, 'history', undefined, 1_001)).toMatchObject({ reason: 'exhausted' });
    const spends = await askMany([other!], 1_000, 8);
    const answered = spends.filter((spend) => spend.ok).length;
    expect(answered).toBeWithin(1, 999);
    expect(spends.every((spend) => spend.ok || spend.reason === 'unavailable')).toBe(true);
    sync.mockRestore();
    let late = 0;
    await eventually(async () => {
      const spend = await other!.spend(ant, 'latest');
      if (spend.ok) late++;
      return !spend.ok && spend.reason === 'exhausted';
    });
    expect(1 + answered + late).toBe(1_000);
  });

  test('after a plan was raised, a request that was too large before gets units that other replicas hold', async () => {
    const ant = { id: 'ant' };
    const download = () => meters[0]!.spend(ant, 'history', undefined, 1_001);
    for (const meter of meters) await meter.spend(ant, 'latest');
    expect(await download()).toMatchObject({ reason: 'exhausted' });
    await giveQuota(ledger, 'ant', 2_013);
    meters[0]!.refresh(['ant']);
    await eventually(async () => meters[0]!.known('ant')?.quota === 2_013);
    await meters[1]!.spend(ant, 'history', undefined, 1_000);
    expect(await download()).toMatchObject({ ok: true });
  });

  test('a replica that did not respond once is asked again later', async () => {
    let waitedMs = 0;
    const monotonic = { now: () => performance.now() + waitedMs };
    const silent = await openMeter(ledgers[0]!);
    const other = await openMeter(ledgers[1]!, { monotonic, scheduler: systemScheduler });
    meters.push(silent, other);
    const ant = { id: 'ant' };
    const download = () => other.spend(ant, 'history', undefined, 900);
    await silent.spend(ant, 'latest');
    const sync = spyOn(ledgers[0]!.quota, 'sync').mockRejectedValue(new Error('no connection'));
    expect(await download()).toMatchObject({ reason: 'unavailable' });
    sync.mockRestore();
    await eventually(async () => (await silent.usage('ant')).exact);
    await eventually(async () => (await silent.spend(ant, 'history', undefined, 50)).ok);
    waitedMs = 20_000;
    expect(await download()).toMatchObject({ ok: true });
  });

  test('after a plan was lowered, usage that is known without the ledger is not cut off at the quota', async () => {
    const [meter] = meters as [Meter];
    const ant = { id: 'ant' };
    await meter.spend(ant, 'history', undefined, 600);
    await giveQuota(ledger, 'ant', 100);
    meter.refresh(['ant']);
    await eventually(async () => meter.known('ant')?.quota === 100);
    const [{ quota }] = ledgers as [Ledger];
    const read = spyOn(quota, 'usageWithoutLease').mockRejectedValue(new Error('no connection'));
    expect(await meter.usage('ant')).toMatchObject({ used: 600, quota: 100, exact: false });
    read.mockRestore();
  });

  test('what is spent while a report is sent is reported soon, even if the reply to the report was lost', async () => {
    const [{ quota }] = ledgers as [Ledger];
    const meter = await openMeter(ledgers[0]!, { flushMs: 200 });
    meters.push(meter);
    const ant = { id: 'ant' };
    const reported = async () => (await ledger.quota.usage('ant', periodOf(Date.now()))).used;
    await meter.spend(ant, 'latest');
    await eventually(async () => (await reported()) === 1);
    const send = quota.sync.bind(quota);
    const sync = spyOn(quota, 'sync').mockImplementationOnce(async (...message) => {
      await send(...message);
      await meter.spend(ant, 'latest');
      throw new Error('the reply was lost');
    });
    await meter.spend(ant, 'latest');
    await eventually(async () => (await reported()) === 3);
    sync.mockRestore();
  });

  test('in a new month, nothing of the last one counts as known', async () => {
    let sleptMs = 0;
    const monotonic = { now: () => performance.now() / 20 + sleptMs };
    const meter = await openMeter(ledgers[0]!, { monotonic });
    meters.push(meter);
    await meter.spend({ id: 'ant' }, 'history', undefined, 1_000);
    expect(meter.known('ant')).toMatchObject({ remaining: 0 });
    sleptMs = meter.secondsToReset() * 1_000;
    expect(meter.known('ant')).toBeUndefined();
    sleptMs = 0;
  });

  test('requests of any size over three replicas never exceed the quota, and what is left is usable', async () => {
    const sizes = Array.from({ length: 120 }, (_, i) => 1 + ((i * 37) % 60));
    const spends = await Promise.all(
      sizes.map(async (units, i) => {
        const spend = await meters[i % 3]!.spend({ id: 'ant' }, 'history', undefined, units);
        return spend.ok ? units : 0;
      }),
    );
    const used = spends.reduce((sum, units) => sum + units, 0);
    expect(used).toBeLessThanOrEqual(1_000);
    expect(await meters[0]!.usage('ant')).toMatchObject({ used, exact: true });
    for (let left = 1_000 - used; left > 0; left--) {
      expect(await meters[left % 3]!.spend({ id: 'ant' }, 'latest')).toMatchObject({ ok: true });
    }
    expect(await meters[0]!.spend({ id: 'ant' }, 'latest')).toMatchObject({ ok: false, reason: 'exhausted' });
  });

  test('usage by endpoint says what was asked', async () => {
    const [meter] = meters;
    for (const endpoint of ['latest', 'latest', 'symbols', 'time-series'] as const) {
      await meter!.spend({ id: 'ant' }, endpoint);
    }
    await meter!.close();
    const days = await ledger.quota.usageByDay('ant', 0, 100_000);
    expect(days.map(({ endpoint, count }) => [endpoint, count])).toEqual([
      ['latest', 2],
      ['symbols', 1],
      ['time-series', 1],
    ]);
  });

  test('an endpoint that is added to the table is reported, after a clean stop and after a kill', async () => {
    const endpoints = [...COUNTED_ENDPOINTS, 'ninth'];
    const spoolDir = newFolder();
    const meter = await openMeter(ledgers[0]!, { endpoints, spoolDir });
    for (const endpoint of endpoints) await meter.spend({ id: 'ant' }, endpoint as CountedEndpoint);
    const killed = newFolder();
    cpSync(spoolDir, killed, { recursive: true });
    await meter.close();
    expect(await spentBy('ant')).toEqual(Object.fromEntries(endpoints.map((endpoint) => [endpoint, 1])));

    // The spool of a killed process, before and after an upgrade.
    await giveQuota(ledger, 'bee', 1_000);
    const record = new Spool({ dir: killed, endpoints, warn: console.error });
    const owner = { accountId: 'bee', period: periodOf(Date.now()), leaseId: 'bee-1', replica: 'r' };
    addUnits(record.add(owner), endpoints.indexOf('ninth'), 4);
    record.close();
    await (await openMeter(ledgers[0]!, { spoolDir: killed })).close();
    expect(await spentBy('bee')).toEqual({ ninth: 4 });
    expect(await spentBy('ant')).toEqual(Object.fromEntries(endpoints.map((endpoint) => [endpoint, 1])));
  });

  test.each([
    { version: 1, name: '0-0.spool', used: 396 },
    { version: 2, name: '0-0.v2.spool', used: 605 },
  ])('a spool of version $version is settled exactly by the first start after the upgrade', async (older) => {
    const spoolDir = newFolder();
    const fixture = join(import.meta.dir, `../fixtures/spool/version-${older.version}.spool`);
    cpSync(fixture, join(spoolDir, older.name));
    for (const id of ['account-1', 'account-2']) await giveQuota(ledger, id, 2_000_000);
    await (await openMeter(ledgers[0]!, { spoolDir })).close();
    expect((await ledger.quota.usage('account-1', 202611)).used).toBe(older.used);
    expect((await ledger.quota.usage('account-2', 202611)).used).toBe(1_000_000);
    expect(await spentBy('account-1')).toMatchObject({ symbols: 11, latest: 22, revisions: 66 });
    expect(readdirSync(spoolDir).filter((name) => name.endsWith('.spool'))).toEqual(['0-1.v4.spool']);
  });

  async function spentBy(accountId: string): Promise<Record<string, number>> {
    const days = await ledger.quota.usageByDay(accountId, 0, 100_000);
    return Object.fromEntries(days.map(({ endpoint, count }) => [endpoint, count]));
  }
});

/** Timeouts are not under test here: each is 20 times as long, for busy machines. */
const PATIENT: Pick<MeterOptions, 'monotonic' | 'scheduler'> = {
  monotonic: { now: () => performance.now() / 20 },
  scheduler: { after: (ms, call) => systemScheduler.after(ms < 300 ? ms : ms * 20, call) },
};

function openMeter(ledger: Ledger, options: Partial<MeterOptions> = {}): Promise<Meter> {
  return Meter.open({
    ledger,
    clock: systemClock,
    spoolDir: newFolder(),
    spoolRecordsPerFile: 16,
    ...PATIENT,
    ...options,
  });
}

/** Sends requests over several connections. Each waits for the response before it sends the next one. */
async function askMany(meters: readonly Meter[], requests: number, connections: number): Promise<Spend[]> {
  const spends: Spend[] = [];
  let asked = 0;
  await Promise.all(
    Array.from({ length: connections }, async (_, i) => {
      while (asked++ < requests) {
        const spend = await meters[i % meters.length]!.spend({ id: 'ant' }, 'latest');
        spends.push(spend);
        if (i % 4 === 0) await Bun.sleep(0);
      }
    }),
  );
  return spends;
}
