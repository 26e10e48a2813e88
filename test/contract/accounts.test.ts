import { expect, test } from 'bun:test';
import { type Account, type ApiKey, QUOTA_MAX } from '../../src/ledger/accounts.ts';
import { onEachEngine } from '../support/ledger.ts';
import { ledgersOf, NOW } from '../support/ledgers.ts';

const ACCOUNT: Account = {
  id: 'acc-1',
  name: 'Ada’s ☕ desk',
  plan: 'free',
  status: 'active',
  createdAt: NOW,
};
const KEY: ApiKey = {
  id: 'key-1',
  hash: 'hash-1',
  accountId: 'acc-1',
  createdAt: NOW,
  expiresAt: null,
  revokedAt: null,
  allowedIps: null,
  headerOnly: false,
};

onEachEngine('accounts', (engine) => {
  const ledgers = ledgersOf(engine);

  test('an account comes back as it was written', async () => {
    const { accounts } = await ledgers.new();
    await accounts.create(ACCOUNT);
    expect(await accounts.find('acc-1')).toEqual(ACCOUNT);
    expect(await accounts.list()).toEqual([ACCOUNT]);
    expect(await accounts.find('acc-2')).toBeUndefined();
  });

  test('plan and status change by themselves, and an account that is not there is told apart', async () => {
    const { accounts } = await ledgers.new();
    await accounts.create(ACCOUNT);
    expect(await accounts.update('acc-1', { plan: 'pro' })).toBe(true);
    expect(await accounts.find('acc-1')).toEqual({ ...ACCOUNT, plan: 'pro' });
    expect(await accounts.update('acc-1', { status: 'suspended' })).toBe(true);
    expect(await accounts.find('acc-1')).toEqual({ ...ACCOUNT, plan: 'pro', status: 'suspended' });
    expect(await accounts.update('nobody', { plan: 'pro' })).toBe(false);
  });

  test('a plan that is not there is refused, for a new account and for an old one', async () => {
    const { accounts } = await ledgers.new();
    await expect(accounts.create({ ...ACCOUNT, plan: 'gold' })).rejects.toThrow();
    await accounts.create(ACCOUNT);
    await expect(accounts.update('acc-1', { plan: 'gold' })).rejects.toThrow();
    expect(await accounts.list()).toEqual([ACCOUNT]);
  });

  test('a plan is added or changed, up to the largest quota', async () => {
    const { accounts } = await ledgers.new();
    const plan = {
      name: 'gold',
      quota: QUOTA_MAX,
      delaySeconds: 1,
      maxSymbols: 2,
      maxSpanDays: 3,
      burstPerSecond: 4,
    };
    await accounts.setPlan(plan);
    expect((await accounts.plans()).find(({ name }) => name === 'gold')).toEqual(plan);
    const changed = { ...plan, quota: 0, delaySeconds: 9, maxSymbols: 8, maxSpanDays: 7, burstPerSecond: 6 };
    await accounts.setPlan(changed);
    expect((await accounts.plans()).filter(({ name }) => name === 'gold')).toEqual([changed]);
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
    const { accounts } = await ledgers.new();
    await accounts.create(ACCOUNT);
    const key = { ...KEY, ...special };
    await accounts.addKey(key);
    expect(await accounts.keys('acc-1')).toEqual([key]);
    expect(await accounts.byKeyHash('hash-1')).toEqual({ key, account: ACCOUNT });
    expect(await accounts.byKeyHash('hash-2')).toBeUndefined();
  });

  test('a key is revoked once: the first time stays', async () => {
    const { accounts } = await ledgers.new();
    await accounts.create(ACCOUNT);
    await accounts.addKey(KEY);
    await accounts.addKey({ ...KEY, id: 'key-2', hash: 'hash-2', createdAt: NOW + 1 });
    expect(await accounts.revokeKey('key-1', NOW + 5)).toBe(true);
    expect(await accounts.revokeKey('key-1', NOW + 9)).toBe(true);
    expect(await accounts.revokeKey('key-3', NOW)).toBe(false);
    expect((await accounts.keys('acc-1')).map(({ revokedAt }) => revokedAt)).toEqual([NOW + 5, null]);
  });

  test('two keys with one hash or one id, and a key of no account, are refused', async () => {
    const { accounts } = await ledgers.new();
    await accounts.create(ACCOUNT);
    await accounts.addKey(KEY);
    await expect(accounts.addKey({ ...KEY, id: 'key-2' })).rejects.toThrow();
    await expect(accounts.addKey({ ...KEY, hash: 'hash-2' })).rejects.toThrow();
    await expect(accounts.addKey({ ...KEY, id: 'k', hash: 'h', accountId: 'nobody' })).rejects.toThrow();
    expect(await accounts.keys('acc-1')).toEqual([KEY]);
  });

  test('each change moves the revision of accounts on, and not that of prices', async () => {
    const ledger = await ledgers.new();
    const { accounts } = ledger;
    const [plan] = await accounts.plans();
    const changes = [
      () => accounts.create(ACCOUNT),
      () => accounts.addKey(KEY),
      () => accounts.update('acc-1', { plan: 'pro' }),
      () => accounts.revokeKey('key-1', NOW),
      () => accounts.setPlan({ ...plan!, quota: 1 }),
    ];
    let before = await ledger.head();
    for (const change of changes) {
      await change();
      const after = await ledger.head();
      expect(after).toEqual({ ...before, accounts: before.accounts + 1 });
      before = after;
    }
    const { accountIds, keyHashes } = await accounts.changes(0, before.accounts);
    expect([accountIds, keyHashes]).toEqual([['acc-1'], ['hash-1']]);
  });
});
