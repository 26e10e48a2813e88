import { expect, test } from 'bun:test';
import { createAccount, issueKey } from '../../../src/gate/onboarding.ts';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

onEachEngine('403', (engine) => {
  const api = apiOn(engine);
  const newAccount = () =>
    createAccount(api.service.ledger, { name: 'Test', plan: 'basic' }, api.service.clock.time);
  const newKey = async (options: { allowedIps?: string[]; headerOnly?: boolean }) => {
    const { account } = await newAccount();
    const { ledger, clock } = api.service;
    return (await issueKey(ledger, account.id, options, clock.time)).text;
  };

  test('all keys of a suspended account are refused until it is active again', async () => {
    const { ledger, core } = api.service;
    const { account, issued } = await newAccount();
    const second = await issueKey(ledger, account.id, {}, api.service.clock.time);
    const ask = (key: string) => api.ask('/symbols', { key });
    expect((await ask(issued.text)).status).toBe(200);
    await ledger.accounts.update(account.id, { status: 'suspended' });
    await core.follow();
    for (const key of [issued.text, second.text]) expectRefusal(await ask(key), 403, 'account_suspended');
    await ledger.accounts.update(account.id, { status: 'active' });
    await core.follow();
    for (const key of [issued.text, second.text]) expect((await ask(key)).status).toBe(200);
  });

  test('a key is refused from an address that is not on its list, even on its first use', async () => {
    const elsewhere = await newKey({ allowedIps: ['203.0.113.0/24', '2001:db8::/32'] });
    for (let i = 0; i < 2; i++) {
      const message = expectRefusal(await api.ask('/symbols', { key: elsewhere }), 403, 'key_not_allowed');
      expect(message).toContain('address');
    }
  });

  test('a key is served from an address that is on its list', async () => {
    for (const allowedIps of [['127.0.0.1'], ['10.0.0.1', '127.0.0.0/8'], ['::ffff:127.0.0.1']]) {
      const key = await newKey({ allowedIps });
      expect((await api.ask('/symbols', { key })).status, String(allowedIps)).toBe(200);
    }
  });

  test('a header-only key is refused in the URL and accepted in the header', async () => {
    const key = await newKey({ headerOnly: true });
    const message = expectRefusal(
      await api.ask(`/symbols?apiKey=${key}`, { key: '' }),
      403,
      'key_not_allowed',
    );
    expect(message).toContain('x-api-key');
    expect((await api.ask('/symbols', { key })).status).toBe(200);
    expect((await api.ask(`/symbols?apiKey=${key}`, { key })).status).toBe(200);
  });

  test('a suspended account is refused before the parameters are checked', async () => {
    const key = await newKey({ allowedIps: ['203.0.113.1'] });
    expectRefusal(await api.ask('/rates/latest', { key }), 403, 'key_not_allowed');
  });
});
