import { expect, test } from 'bun:test';
import type { Account } from '../../src/ledger/accounts/accounts.ts';
import type { ApiKey } from '../../src/ledger/accounts/keys.ts';
import type { AuditAction } from '../../src/ledger/audit/entry.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { DEFAULT_RETENTION } from '../../src/ledger/retention/rules.ts';
import { MS_PER_DAY } from '../../src/market/day.ts';
import { onEachEngine } from '../support/ledger.ts';
import { day, flat, ledgersOf, NOW, newSymbol, unique } from '../support/ledgers.ts';

const ADA = { name: 'ada', via: 'api', address: '192.0.2.1' } as const;
const HASH = 'hash-that-must-not-be-recorded-';

onEachEngine('the audit log', (engine) => {
  const ledgers = ledgersOf(engine);

  test('every administrative change is recorded once, with who, when, what, and the fields before and after', async () => {
    const ledger = await ledgers.new();
    const changes = await changeEverything(ledger.as(ADA));
    const entries = (await ledger.audit.list({ limit: 1_000 })).toReversed();
    expect(entries.map(({ action }) => action)).toEqual(changes);
    for (const entry of entries)
      expect(entry).toMatchObject({ actor: 'ada', via: 'api', address: '192.0.2.1' });
    const of = (action: string) => entries.find((entry) => entry.action === action)!;
    expect(of('account.update').details).toEqual({ plan: ['free', 'pro'] });
    expect(of('plan.update').details).toEqual({ quota: [100, 200] });
    expect(of('key.update').details).toMatchObject({ name: ['', 'backend'], headerOnly: [false, true] });
    expect(of('bars.withdraw').details).toMatchObject({
      startDate: '2026-07-06',
      days: 1,
      reason: 'wrong',
    });
    expect(of('feed.addresses').details).toEqual({ hosts: { file: 'mirror.example' } });
    expect(JSON.stringify(entries)).not.toContain(HASH);
    expect(JSON.stringify(entries)).not.toContain('token=secret');
  });

  test('a change without an actor is the service’s own and is not recorded', async () => {
    const ledger = await ledgers.new();
    await changeEverything(ledger);
    expect(await ledger.audit.list({ limit: 1 })).toEqual([]);
  });

  test('an entry is rolled back with its change', async () => {
    const ledger = (await ledgers.new()).as(ADA);
    const account = anAccount();
    await ledger.accounts.create(account);
    await expect(ledger.accounts.create(account)).rejects.toThrow(); // the id is taken
    await expect(ledger.accounts.update(account.id, { plan: 'no such plan' })).rejects.toThrow();
    const failed = ledger.engine.write(async (tx) => {
      await ledger.audit.record(tx, { action: 'plan.update', target: 'pro' });
      throw new Error('later in the transaction');
    });
    await expect(failed).rejects.toThrow('later in the transaction');
    expect((await ledger.audit.list({ limit: 10 })).map(({ action }) => action)).toEqual(['account.create']);
  });

  test('what changes nothing is not recorded', async () => {
    const ledger = (await ledgers.new()).as(ADA);
    await ledger.accounts.update('nobody', { plan: 'pro' });
    await ledger.keys.revoke('none', NOW);
    await ledger.plans.delete('none');
    await ledger.accounts.delete('nobody');
    await ledger.feeds.disable('ecb');
    await ledger.quarantine.drop(7, NOW, 'operator');
    await ledger.symbols.markDeleted(999_999);
    expect(await ledger.audit.list({ limit: 10 })).toEqual([]);
  });

  test('pages follow each other without gaps, and a search finds actor, action and target', async () => {
    const ledger = await ledgers.new();
    for (let i = 0; i < 5; i++) {
      await ledger
        .as({ name: i % 2 === 0 ? 'Ada' : 'Ben', via: 'page' })
        .audit.recordAlone({ action: 'plan.update', target: `p${i}` });
    }
    const first = await ledger.audit.list({ limit: 2 });
    const second = await ledger.audit.list({ limit: 3, before: first.at(-1)!.id });
    expect([...first, ...second].map(({ target }) => target)).toEqual(['p4', 'p3', 'p2', 'p1', 'p0']);
    expect(await ledger.audit.list({ limit: 10, search: 'ben' })).toHaveLength(2);
    expect(await ledger.audit.list({ limit: 10, search: 'PLAN.' })).toHaveLength(5);
    expect(await ledger.audit.list({ limit: 10, search: 'p3' })).toHaveLength(1);
    await ledger.as({ name: 'Émile', via: 'cli' }).audit.recordAlone({ action: 'plan.update', target: 'p5' });
    expect(await ledger.audit.list({ limit: 10, search: 'Émile' })).toHaveLength(1);
  });

  test('entries and uses of keys are deleted when their time is over', async () => {
    const ledger = await ledgers.new();
    await ledger.as(ADA).audit.recordAlone({ action: 'plan.update', target: 'pro' });
    const use = { accountId: 'a', keyId: 'k', endpoint: 'latest', count: 1, lastAt: NOW };
    await ledger.keyUses.add([{ ...use, day: day('2026-07-15') }]);
    const at = (await ledger.audit.list({ limit: 1 }))[0]!.at;
    await ledger.retention.apply(at + (DEFAULT_RETENTION.auditDays - 1) * MS_PER_DAY);
    expect(await ledger.audit.list({ limit: 1 })).toHaveLength(1);
    expect(await ledger.keyUses.of('a', 0)).toEqual([]);
    await ledger.retention.apply(at + (DEFAULT_RETENTION.auditDays + 1) * MS_PER_DAY);
    expect(await ledger.audit.list({ limit: 1 })).toEqual([]);
  });

  test('uses of a key add up, and the last one is remembered', async () => {
    const ledger = await ledgers.new();
    const use = { accountId: 'a', keyId: 'k', day: 20_000, endpoint: 'latest', count: 2, lastAt: 50 };
    await ledger.keyUses.add([use, { ...use, keyId: 'other' }]);
    await ledger.keyUses.add([{ ...use, count: 3, lastAt: 40 }]);
    expect(await ledger.keyUses.of('a', 20_000)).toEqual([
      { ...use, count: 5 },
      { ...use, keyId: 'other' },
    ]);
    expect([...(await ledger.keyUses.lastUses('a'))]).toEqual([
      ['k', 50],
      ['other', 50],
    ]);
    await ledger.accounts.delete('a');
    expect(await ledger.keyUses.of('a', 0)).toEqual([]);
  });
});

/** Makes one change of every kind. Returns their actions, in order. */
async function changeEverything(ledger: Ledger): Promise<AuditAction[]> {
  const { accounts, plans, keys, symbols, feeds, withdrawals, imports } = ledger;
  const account = anAccount();
  await accounts.create(account);
  await accounts.update(account.id, { plan: 'pro' });
  const [key, next] = [aKey(account), aKey(account)];
  await keys.add(key);
  await keys.update(key.id, { name: 'backend', headerOnly: true });
  await keys.replace(key.id, NOW + 1, next);
  await keys.revoke(next.id, NOW);
  const plan = { ...(await plans.list())[0]!, name: unique('plan-'), quota: 100 };
  await plans.change(plan, {});
  await plans.change(plan, { quota: 200 });
  await plans.delete(plan.name);
  await accounts.delete(account.id);
  const symbol = await newSymbol(ledger);
  await symbols.upsert([{ ...symbol, name: 'Renamed' }], []);
  await ledger.bars.publish([{ symbolId: symbol.id, day: day('2026-07-06'), ...flat(5) }], {
    source: 'feed',
    recordedAt: NOW,
  });
  const wrong = { by: 'operator', reason: 'wrong', recordedAt: NOW } as const;
  await withdrawals.withdraw([{ symbolId: symbol.id, day: day('2026-07-06') }], wrong);
  await symbols.markDeleted(symbol.id);
  await feeds.enable('ecb', NOW, NOW);
  await feeds.setUrls('ecb', { file: 'https://mirror.example/x?token=secret' });
  await feeds.take({ feed: 'ecb', holder: 'me', leaseMs: 1, started: NOW });
  await feeds.disable('ecb');
  await imports.undo(await imports.begin('gold.csv', 'desk', NOW), NOW, () => {});
  return [
    'account.create',
    'account.update',
    'key.create',
    'key.update',
    'key.rotate',
    'key.revoke',
    'plan.create',
    'plan.update',
    'plan.delete',
    'account.delete',
    'symbol.create',
    'symbol.update',
    'bars.withdraw',
    'symbol.delete',
    'feed.enable',
    'feed.addresses',
    'feed.run',
    'feed.disable',
    'import.start',
    'import.undo',
  ];
}

function anAccount(): Account {
  return { id: unique('acc-'), name: 'Ada', plan: 'free', status: 'active', createdAt: NOW };
}

function aKey({ id: accountId }: Account): ApiKey {
  return {
    id: unique('key-'),
    hash: unique(HASH),
    accountId,
    name: '',
    createdAt: NOW,
    expiresAt: null,
    revokedAt: null,
    allowedIps: null,
    headerOnly: false,
  };
}
