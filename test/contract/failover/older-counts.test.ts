import { afterEach, beforeEach, expect, test } from 'bun:test';
import { Meter } from '../../../src/gate/meter/meter.ts';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { HOLD_MS, LEASE_MS } from '../../../src/ledger/quota/model.ts';
import { periodOf } from '../../../src/ledger/quota/period.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import type { Scheduler } from '../../../src/runtime/scheduler.ts';
import { systemScheduler } from '../../../src/runtime/scheduler.ts';
import { readyLedgerUrl } from '../../support/database/ready-ledger.ts';
import { newFolder, onEachEngine } from '../../support/ledger.ts';
import { eventually } from '../../support/program.ts';
import { giveQuota } from '../../support/quota.ts';
import { OlderCounts } from '../../support/replication/older-counts.ts';

const ANT = { id: 'ant' };
const SOON_MS = 20_000;
/** A meter without anything to report contacts the ledger after this time. */
const RENEW_MS = 15_000;

onEachEngine('counts after a failover that lost writes', (engine) => {
  let ledger: Ledger;
  let meters: Meter[];
  let monoAheadMs: number;

  const monotonic = { now: () => performance.now() + monoAheadMs };
  const openMeter = async (spoolDir = newFolder(), scheduler: Scheduler = systemScheduler) => {
    const meter = await Meter.open({
      ledger,
      clock: systemClock,
      spoolDir,
      monotonic,
      scheduler,
      keepSettledMs: 60_000,
    });
    meters.push(meter);
    return meter;
  };

  beforeEach(async () => {
    monoAheadMs = 0;
    meters = [];
    ledger = await Ledger.open(await readyLedgerUrl(engine), systemClock);
    await giveQuota(ledger, 'ant', 1_000);
  });
  afterEach(async () => {
    await Promise.all(meters.map((meter) => meter.close()));
    expect(await ledger.quota.check()).toEqual([]);
    await ledger.close();
  });

  async function spend(meter: Meter, times: number): Promise<number> {
    let answered = 0;
    for (let i = 0; i < times; i++) if ((await meter.spend(ANT, 'latest')).ok) answered++;
    return answered;
  }

  const usage = () => ledger.quota.usage('ant', periodOf(Date.now()));

  test('are restored from a lease that the ledger does not know', async () => {
    const older = await OlderCounts.of(ledger);
    const meter = await openMeter();
    await spend(meter, 7);
    await meter.reportedUsage('ant');
    await older.restore(ledger);
    expect((await usage()).used).toBe(0);
    meter.reportAll();
    await eventually(async () => (await usage()).used === 7, SOON_MS);
    expect(await spend(meter, 3)).toBe(3);
    expect(await meter.usage('ant')).toMatchObject({ used: 10, exact: true });
  });

  test('are restored from a lease whose last reports were lost, though nothing was spent since', async () => {
    const meter = await openMeter();
    await spend(meter, 2);
    const older = await OlderCounts.of(ledger);
    await spend(meter, 5);
    await meter.reportedUsage('ant');
    await older.restore(ledger);
    meter.reportAll();
    await eventually(async () => (await usage()).used === 7, SOON_MS);
  });

  test('are restored from a lease that was closed in the seconds that were lost', async () => {
    const meter = await openMeter();
    await spend(meter, 2);
    const older = await OlderCounts.of(ledger);
    await spend(meter, 5);
    await release(meter);
    await older.restore(ledger);
    expect((await usage()).used).toBeLessThan(7);
    meter.reportAll();
    await eventually(async () => (await usage()).used === 7, SOON_MS);
  });

  test('are restored by the next process when the one that closed the lease was killed', async () => {
    const spoolDir = newFolder();
    const killed = await openMeter(spoolDir);
    await spend(killed, 2);
    const older = await OlderCounts.of(ledger);
    await spend(killed, 5);
    await release(killed);
    await older.restore(ledger);
    // The other process takes over the spool as a kill leaves it.
    await Meter.open({ ledger, clock: systemClock, spoolDir, lock: () => ({ release() {} }) }).then((meter) =>
      meters.push(meter),
    );
    expect((await usage()).used).toBe(7);
  });

  test('a barrier that the ledger has forgotten is not taken for one that was acknowledged', async () => {
    const [one, two] = [await openMeter(), await openMeter()];
    await spend(one, 1);
    await spend(two, 1);
    const older = await OlderCounts.of(ledger);
    for (let i = 0; i < 5; i++) await one.usage('ant'); // raises barriers that will be lost
    await older.restore(ledger);
    for (const meter of [one, two]) meter.reportAll();
    await eventually(async () => (await usage()).used === 2, SOON_MS);
    for (let round = 1; round <= 3; round++) {
      await spend(two, 10);
      let answer = await one.usage('ant');
      while (!answer.exact) answer = await one.usage('ant'); // on a busy machine the other one reports too late
      expect(answer.used).toBe(2 + 10 * round);
    }
  });

  test('over-quota answers are bounded by what was granted in the seconds that were lost', async () => {
    await giveQuota(ledger, 'ant', 100);
    const [one, two] = [await openMeter(), await openMeter()];
    await spend(one, 10);
    const older = await OlderCounts.of(ledger);
    const before = await grantedUnits();
    const inTheLostSeconds = await spend(one, 80);
    const granted = (await grantedUnits()) - before;
    await older.restore(ledger);
    const byTheOther = await spend(two, 200);
    one.reportAll();
    two.reportAll();
    const after = await spend(one, 200);
    const answered = 10 + inTheLostSeconds + byTheOther + after;
    expect(granted).toBeGreaterThan(0); // the loss is real
    expect(answered).toBeGreaterThanOrEqual(100); // exactly that if the first one happens to report before the other spends
    expect(answered).toBeLessThanOrEqual(100 + granted);
    await eventually(async () => (await usage()).used === answered, SOON_MS);
    expect(await spend(two, 5)).toBe(0);
  });

  async function grantedUnits(): Promise<number> {
    const [row] = await ledger.engine.read`SELECT granted FROM quota_period WHERE account_id = 'ant'`;
    return Number(row?.granted ?? 0);
  }

  /** Releases the leases of a meter as if it had been silent for too long, and waits until it has closed and settled them. */
  async function release(meter: Meter): Promise<void> {
    await eventually(async () => {
      await ledger.engine.write(
        (tx) => tx`UPDATE quota_holder SET expires_at = expires_at - ${LEASE_MS + HOLD_MS + 1_000}`,
      );
      await ledger.quota.releaseLost();
      monoAheadMs += RENEW_MS;
      return meter.known('ant') === undefined;
    }, SOON_MS);
    await eventually(async () => {
      const [row] = await ledger.engine
        .read`SELECT sum(spent) AS spent, sum(open) AS open FROM quota_lease WHERE account_id = 'ant'`;
      return Number(row?.spent) === 7 && Number(row?.open) === 0;
    }, SOON_MS);
  }
});
