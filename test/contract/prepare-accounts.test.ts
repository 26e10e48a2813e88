import { afterEach, beforeEach, expect, test } from 'bun:test';
import { join } from 'node:path';
import { BurstLimits } from '../../src/gate/burst/burst-limits.ts';
import { Gate } from '../../src/gate/gate.ts';
import { Meter } from '../../src/gate/meter/meter.ts';
import { type IssuedKey, issueKey } from '../../src/gate/onboarding.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { periodBefore, periodOf, periodStart } from '../../src/ledger/quota/period.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { leaseAhead, preloadKeys } from '../../src/service/prepare-accounts.ts';
import { readyLedgerUrl } from '../support/database/ready-ledger.ts';
import { statementsOf } from '../support/database/statements.ts';
import { newFolder, onEachEngine } from '../support/ledger.ts';
import { giveQuota } from '../support/quota.ts';

const NOW = Date.now();
const presented = (key: string) => ({ key, inUrl: false, address: () => '127.0.0.1' });
const LAST_MONTH = periodStart(periodBefore(periodOf(NOW), 1));

onEachEngine('accounts that are prepared at a start', (engine) => {
  let ledger: Ledger;
  let meters: Meter[];

  beforeEach(async () => {
    ledger = await Ledger.open(await readyLedgerUrl(engine), systemClock);
    meters = [];
    await giveQuota(ledger, 'plan', 1_000);
  });

  afterEach(async () => {
    await Promise.all(meters.map((meter) => meter.close()));
    expect(await ledger.quota.check()).toEqual([]);
    await ledger.close();
  });

  test('a process that is alone counts the first requests of active accounts without asking the ledger', async () => {
    const ids = Array.from({ length: 700 }, (_, i) => `acc-${i}`);
    for (const id of ids) await addAccount(id, LAST_MONTH);
    const meter = await openMeter();
    await prepare({ meter });
    for (const id of ids) expect(meter.spend({ id }, 'latest')).toMatchObject({ ok: true, remaining: 999 });
    expect(await meter.usage('acc-699')).toMatchObject({ used: 1, quota: 1_000, exact: true });
  });

  test('accounts that were neither created nor used since last month, and suspended ones, wait for their first request', async () => {
    await addAccount('old', LAST_MONTH - 1);
    await addAccount('used', LAST_MONTH - 1);
    await addAccount('suspended', NOW);
    await ledger.accounts.update('suspended', { status: 'suspended' });
    const before = await openMeter();
    await before.spend({ id: 'used' }, 'latest');
    await before.close();
    const meter = await openMeter();
    await prepare({ meter });
    expect(meter.known('used')).toMatchObject({ quota: 1_000 });
    expect([meter.known('old'), meter.known('suspended')]).toEqual([undefined, undefined]);
    expect(await meter.spend({ id: 'old' }, 'latest')).toMatchObject({ ok: true, remaining: 999 });
  });

  test('a request that comes before the lease is answered from it, and the quota holds', async () => {
    await giveQuota(ledger, 'ant', 3);
    const meter = await openMeter();
    meter.leaseAhead(['ant']);
    const spends = await Promise.all([1, 2, 3, 4].map(() => meter.spend({ id: 'ant' }, 'latest')));
    expect(spends.map(({ ok }) => ok)).toEqual([true, true, true, false]);
    const [row] = await ledger.engine.read`SELECT count(*) AS n FROM quota_lease WHERE account_id = 'ant'`;
    expect(Number(row!.n)).toBe(1);
  });

  test('a process that is not alone leases nothing ahead', async () => {
    await addAccount('ant', NOW);
    const first = await openMeter();
    await first.spend({ id: 'plan' }, 'latest');
    const second = await openMeter();
    await prepare({ meter: second });
    expect(second.known('ant')).toBeUndefined();
    const [row] = await ledger.engine.read`SELECT count(*) AS n FROM quota_lease WHERE account_id = 'ant'`;
    expect(Number(row!.n)).toBe(0);
  });

  test('the first request with a key of an active account is admitted without asking the ledger', async () => {
    const issued = await Promise.all(['ant', 'bee'].map(addKey));
    const gate = await openGate();
    await prepare({ gate });
    const statements = await statementsOf(ledger, async () => {
      for (const { text, key } of issued) expect(gate.admit(presented(text))).toMatchObject({ id: key.id });
    });
    expect(statements).toEqual([]);
  });

  test('a key that is revoked before its first request is refused', async () => {
    const [ant, bee] = await Promise.all(['ant', 'bee'].map(addKey));
    const gate = await openGate();
    await prepare({ gate });
    await ledger.keys.revoke(ant!.key.id, NOW);
    await gate.follow(await ledger.head());
    expect(await gate.admit(presented(ant!.text))).toMatchObject({ ok: false, code: 'invalid_key' });
    expect(gate.admit(presented(bee!.text))).toMatchObject({ id: bee!.key.id });
  });

  test('a change of an account shows with each of its keys, used before or not', async () => {
    const used = await addKey('ant');
    const others = [await issueKey(ledger, 'ant', {}, NOW), await issueKey(ledger, 'ant', {}, NOW)];
    const gate = await openGate();
    await prepare({ gate });
    expect(gate.admit(presented(used.text))).toMatchObject({ id: used.key.id });
    await ledger.accounts.update('ant', { status: 'suspended' });
    await gate.follow(await ledger.head());
    for (const { text } of [...others, used])
      expect(await gate.admit(presented(text))).toMatchObject({ ok: false, code: 'account_suspended' });
  });

  test('a key that is revoked while it is read ahead is refused', async () => {
    const { text, key } = await addKey('ant');
    const gate = await openGate();
    const read = ledger.accounts.keysOf.bind(ledger.accounts);
    const [isRead, isRevoked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    ledger.accounts.keysOf = async (ids) => {
      const found = await read(ids);
      isRead.resolve();
      await isRevoked.promise;
      return found;
    };
    const preparing = prepare({ gate });
    await isRead.promise;
    await ledger.keys.revoke(key.id, NOW);
    await gate.follow(await ledger.head());
    isRevoked.resolve();
    await preparing;
    expect(await gate.admit(presented(text))).toMatchObject({ ok: false, code: 'invalid_key' });
  });

  function addAccount(id: string, createdAt: number): Promise<void> {
    return ledger.accounts.create({ id, name: id, plan: 'plan', status: 'active', createdAt });
  }

  async function openMeter(): Promise<Meter> {
    const meter = await Meter.open({ ledger, clock: systemClock, spoolDir: newFolder() });
    meters.push(meter);
    return meter;
  }

  async function prepare({ meter, gate }: { meter?: Meter; gate?: Gate }): Promise<void> {
    const active = { accounts: ledger.accounts, now: NOW, signal: new AbortController().signal };
    if (gate) await preloadKeys(gate.directory, active);
    if (meter) await leaseAhead(meter, active);
  }

  function openGate(): Promise<Gate> {
    const burst = new BurstLimits(join(newFolder(), 'burst'));
    return Gate.open({ ledger, clock: systemClock, burst, failedKeysPerMinute: 10 });
  }

  async function addKey(accountId: string): Promise<IssuedKey> {
    await addAccount(accountId, NOW);
    return issueKey(ledger, accountId, {}, NOW);
  }
});
