import { expect, test } from 'bun:test';
import type { Account } from '../../src/ledger/accounts/accounts.ts';
import type { ApiKey } from '../../src/ledger/accounts/keys.ts';
import { QUOTA_MAX } from '../../src/ledger/accounts/plans.ts';
import { onEachEngine } from '../support/ledger.ts';
import { ledgersOf, NOW, unique } from '../support/ledgers.ts';

onEachEngine('accounts', (engine) => {
  const ledgers = ledgersOf(engine);

  test('an account is read as it was written', async () => {
    const { accounts } = await ledgers.shared();
    const account = anAccount();
    await accounts.create(account);
    expect(await accounts.find(account.id)).toEqual(account);
    expect(await accounts.list()).toContainEqual(account);
    expect(await accounts.find('nobody')).toBeUndefined();
  });

  test('replicas that ensure one account at the same time create it once', async () => {
    const pair = await ledgers.pair();
    for (let round = 0; round < 10; round++) {
      const account = anAccount();
      await Promise.all(Array.from({ length: 6 }, (_, i) => pair[i % 2]!.accounts.ensure(account)));
      expect(await pair[0].accounts.find(account.id)).toEqual(account);
    }
  });

  test('plan and status change independently, and an unknown account is reported', async () => {
    const { accounts } = await ledgers.shared();
    const account = anAccount();
    await accounts.create(account);
    expect(await accounts.update(account.id, { plan: 'pro' })).toBe(true);
    expect(await accounts.find(account.id)).toEqual({ ...account, plan: 'pro' });
    expect(await accounts.update(account.id, { status: 'suspended' })).toBe(true);
    expect(await accounts.find(account.id)).toEqual({ ...account, plan: 'pro', status: 'suspended' });
    expect(await accounts.update('nobody', { plan: 'pro' })).toBe(false);
  });

  test('an unknown plan is refused, for a new account and for an existing one', async () => {
    const { accounts } = await ledgers.shared();
    const account = anAccount();
    await expect(accounts.create({ ...account, plan: 'none' })).rejects.toThrow();
    expect(await accounts.find(account.id)).toBeUndefined();
    await accounts.create(account);
    await expect(accounts.update(account.id, { plan: 'none' })).rejects.toThrow();
    expect(await accounts.find(account.id)).toEqual(account);
  });

  test('a plan is added or changed, up to the largest quota', async () => {
    const { plans } = await ledgers.shared();
    const plan = {
      name: 'gold',
      quota: QUOTA_MAX,
      delaySeconds: 1,
      maxSymbols: 2,
      maxSpanDays: 3,
      burstPerSecond: 4,
      history: true,
    };
    await plans.set(plan);
    expect((await plans.list()).find(({ name }) => name === 'gold')).toEqual(plan);
    const changed = {
      ...plan,
      quota: 0,
      delaySeconds: 9,
      maxSymbols: 8,
      maxSpanDays: 7,
      burstPerSecond: 6,
      history: false,
    };
    await plans.set(changed);
    expect((await plans.list()).filter(({ name }) => name === 'gold')).toEqual([changed]);
  });

  test('a plan has a span of its own, also the former default of 30 days, or none', async () => {
    const { plans } = await ledgers.shared();
    const [plan] = await plans.list();
    const spanOf = async () => (await plans.list()).find(({ name }) => name === 'span')!.maxSpanDays;
    for (const maxSpanDays of [30, null, 0, 365, null, 30]) {
      await plans.set({ ...plan!, name: 'span', maxSpanDays });
      expect(await spanOf()).toBe(maxSpanDays);
    }
    await plans.change({ ...plan!, name: 'span' }, { quota: 5 });
    expect(await spanOf()).toBe(30);
  });

  test.each<[string, Partial<ApiKey>]>([
    ['with nothing special', {}],
    ['with an end', { expiresAt: NOW + 1 }],
    ['that was revoked before', { revokedAt: NOW }],
    ['for one address', { allowedIps: ['10.0.0.1'] }],
    ['for several addresses', { allowedIps: ['10.0.0.0/8', '2001:db8::/32'] }],
    ['for no address at all', { allowedIps: [] }],
    ['for the header only', { headerOnly: true }],
  ])('a key %s comes back as it was written', async (_, special) => {
    const { accounts, keys } = await ledgers.shared();
    const account = anAccount();
    await accounts.create(account);
    const key = { ...aKey(account), ...special };
    await keys.add(key);
    expect(await keys.of(account.id)).toEqual([key]);
    expect(await accounts.byKeyHash(key.hash)).toEqual({ key, account });
    expect(await accounts.byKeyHash('no such hash')).toBeUndefined();
  });

  test('many keys are found in one query, and unknown ones are absent', async () => {
    const { accounts, keys } = await ledgers.shared();
    const account = anAccount();
    const key = aKey(account);
    await accounts.create(account);
    await keys.add(key);
    for (const size of [1, 2, 32, 33, 1_024]) {
      const hashes = Array.from({ length: size }, (_, i) => (i === size >> 1 ? key.hash : `unknown ${i}`));
      expect([...(await accounts.byKeyHashes(hashes))]).toEqual([[key.hash, { key, account }]]);
    }
  });

  test('a key is revoked once: the first time stays', async () => {
    const { accounts, keys } = await ledgers.shared();
    const account = anAccount();
    const key = aKey(account);
    await accounts.create(account);
    await keys.add(key);
    await keys.add({ ...aKey(account), createdAt: NOW + 1 });
    expect(await keys.revoke(key.id, NOW + 5)).toBe(true);
    expect(await keys.revoke(key.id, NOW + 9)).toBe(true);
    expect(await keys.revoke('no such key', NOW)).toBe(false);
    expect((await keys.of(account.id)).map(({ revokedAt }) => revokedAt)).toEqual([NOW + 5, null]);
  });

  test('two keys with one hash or one id, and a key of no account, are refused', async () => {
    const { accounts, keys } = await ledgers.shared();
    const account = anAccount();
    const key = aKey(account);
    await accounts.create(account);
    await keys.add(key);
    const outcomes = await Promise.allSettled([
      keys.add({ ...aKey(account), hash: key.hash }),
      keys.add({ ...aKey(account), id: key.id }),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await keys.add({ ...aKey(account), accountId: 'nobody' })).toBe('no_account');
    expect(await keys.of(account.id)).toEqual([key]);
  });

  test('each change increments the revision of accounts, not that of prices', async () => {
    const ledger = await ledgers.shared();
    const account = anAccount();
    const key = aKey(account);
    const { accounts, keys, plans } = ledger;
    const [plan] = await plans.list();
    const changes = [
      () => accounts.create(account),
      () => keys.add(key),
      () => accounts.update(account.id, { plan: 'pro' }),
      () => keys.revoke(key.id, NOW),
      () => plans.set({ ...plan!, quota: 1 }),
    ];
    const start = await ledger.head();
    let before = start;
    for (const change of changes) {
      await change();
      const after = await ledger.head();
      expect(after).toEqual({ ...before, accounts: before.accounts + 1 });
      before = after;
    }
    const { accountIds, keyOwnerIds } = await accounts.changes(start.accounts, before.accounts);
    expect([accountIds, keyOwnerIds]).toEqual([[account.id], [account.id]]);
  });
});

function anAccount(): Account {
  return { id: unique('acc-'), name: 'Ada’s ☕ desk', plan: 'free', status: 'active', createdAt: NOW };
}

function aKey(account: Account): ApiKey {
  return {
    id: unique('key-'),
    hash: unique('hash-'),
    accountId: account.id,
    name: '',
    createdAt: NOW,
    expiresAt: null,
    revokedAt: null,
    allowedIps: null,
    headerOnly: false,
  };
}
