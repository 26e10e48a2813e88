import { expect, test } from 'bun:test';
import { createAccount } from '../../src/gate/onboarding.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { SyncAnswer, SyncRequest } from '../../src/ledger/quota/model.ts';
import { periodOf } from '../../src/ledger/quota/period.ts';
import { tablesWith } from '../../src/ledger/schema/delete-rows.ts';
import { onEachEngine } from '../support/ledger.ts';
import { ledgersOf, NOW } from '../support/ledgers.ts';
import { giveQuota } from '../support/quota.ts';

onEachEngine('an account that was deleted in the meantime', (engine) => {
  const ledgers = ledgersOf(engine);

  test('gets no new key, which is no error', async () => {
    const ledger = await ledgers.shared();
    const { account, issued } = await createAccount(ledger, { name: 'A', plan: 'free' }, NOW);
    await ledger.accounts.delete(account.id);
    expect(await ledger.keys.add({ ...issued.key, id: 'key_late', hash: 'late' })).toBe('no_account');
  });

  test('is not counted any more: reports of its leases are accepted, and write nothing', async () => {
    const ledger = await ledgers.new();
    await giveQuota(ledger, 'ant', 100);
    const lease = await openLease(ledger, 'ant');
    await ledger.accounts.delete('ant');
    const report = { ...lease, seq: 2, spentBy: { latest: 3 } };
    expect(await sync(ledger, report)).toMatchObject({ state: 'closed', spent: 3, quota: 0 });
    expect(await sync(ledger, { ...report, seq: 3, close: true })).toMatchObject({ state: 'closed' });
    expect(await sync(ledger, await newLease(ledger, 'ant'))).toMatchObject({ state: 'open', granted: 0 });
    expect(await rowsOf(ledger, 'ant')).toEqual([]);
    expect(await ledger.quota.check()).toEqual([]);
  });

  test('leaves no contradiction behind if processes report while it is deleted', async () => {
    const ledger = await ledgers.new();
    for (let round = 0; round < 10; round++) {
      const id = `account-${round}`;
      await giveQuota(ledger, id, 1_000);
      const leases = await Promise.all(Array.from({ length: 4 }, () => openLease(ledger, id)));
      const reports = leases.map(async (lease) => {
        for (let seq = 2; seq < 12; seq++) await sync(ledger, { ...lease, seq, spentBy: { latest: seq } });
        await sync(ledger, { ...lease, seq: 12, spentBy: { latest: 12 }, close: true });
      });
      await Promise.all([...reports, ledger.accounts.delete(id)]);
    }
    expect(await ledger.quota.check()).toEqual([]);
  });
});

async function newLease(ledger: Ledger, accountId: string): Promise<SyncRequest> {
  return {
    leaseId: crypto.randomUUID(),
    accountId,
    period: periodOf(await ledger.quota.now()),
    replica: 'r1',
    spentBy: {},
    seq: 1,
    want: 50,
    need: 1,
    least: 1,
    barrierSeen: 0,
    close: false,
  };
}

async function openLease(ledger: Ledger, accountId: string): Promise<SyncRequest> {
  const lease = await newLease(ledger, accountId);
  expect(await sync(ledger, lease)).toMatchObject({ state: 'open' });
  return lease;
}

async function sync(ledger: Ledger, request: SyncRequest): Promise<SyncAnswer> {
  return (await ledger.quota.sync([request]))[0]!;
}

/** The tables that have rows of an account. */
async function rowsOf({ engine: { read, placeholder: p } }: Ledger, accountId: string): Promise<string[]> {
  const found: string[] = [];
  for (const { name } of tablesWith('account_id')) {
    const rows = await read.unsafe(`SELECT 1 FROM ${name} WHERE account_id = ${p(1)}`, [accountId]);
    if (rows.length > 0) found.push(name);
  }
  return found;
}
