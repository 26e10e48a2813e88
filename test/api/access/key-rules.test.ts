import { expect, test } from 'bun:test';
import { createKey, secureRandom } from '../../../src/gate/key.ts';
import { createAccount, issueKey } from '../../../src/gate/onboarding.ts';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { getRaw } from '../../support/http/raw.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE } from '../../support/service.ts';

onEachEngine('key rules', (engine) => {
  const api = apiOn(engine);
  const planOf = async (path: string, key: string) => (await api.ask(path, { key })).body.plan;

  test('the key may be sent in the header or in the URL', async () => {
    expect((await api.ask('/symbols')).status).toBe(200);
    expect((await api.ask(`/symbols?apiKey=${api.key}`, { key: '' })).status).toBe(200);
  });

  test('the header name is case-insensitive', async () => {
    for (const name of ['x-api-key', 'X-API-KEY', 'X-Api-Key', 'x-API-key']) {
      const reply = await getRaw(api.service.url, '/usage', `${name}: ${api.key}\r\n`);
      expect(reply).toStartWith('HTTP/1.1 200 ');
    }
  });

  test('spaces around the key are ignored, in the header and in the URL', async () => {
    const header = await getRaw(api.service.url, '/usage', `x-api-key:  \t${api.key} \t\r\n`);
    expect(header).toStartWith('HTTP/1.1 200 ');
    expect((await api.ask(`/usage?apiKey=%20+${api.key}%20%0A`, { key: '' })).status).toBe(200);
  });

  test('if both are sent the header wins, even if only the other key is valid', async () => {
    const [basic, pro] = [await api.service.key('basic'), await api.service.key('pro')];
    expect(await planOf(`/usage?apiKey=${basic}`, pro)).toBe('pro');
    expect(await planOf(`/usage?apiKey=${pro}`, basic)).toBe('basic');
    expect(await planOf('/usage?apiKey=wrong', basic)).toBe('basic');
    expectRefusal(await api.ask(`/symbols?apiKey=${basic}`, { key: 'wrong' }), 401, 'invalid_key');
  });

  test('with an empty header the parameter is used', async () => {
    expect((await api.ask(`/symbols?apiKey=${api.key}`, { key: '  ' })).status).toBe(200);
  });

  test('a repeated apiKey is 400, even if both are equal; with a header it is ignored', async () => {
    const path = `/symbols?apiKey=${api.key}&apiKey=${api.key}`;
    expectRefusal(await api.ask(path, { key: '' }), 400, 'repeated_parameter');
    expect((await api.ask(path)).status).toBe(200);
  });

  test('keys are case-sensitive', async () => {
    expectRefusal(await api.ask('/symbols', { key: api.key.toUpperCase() }), 401, 'invalid_key');
  });

  test('a key is valid until it expires', async () => {
    const { ledger, clock } = api.service;
    const { account } = await createAccount(ledger, { name: 'Short', plan: 'basic' }, clock.time);
    const expiresAt = clock.time + MINUTE;
    const { text: key } = await issueKey(ledger, account.id, { expiresAt }, clock.time);
    clock.time = expiresAt - 1;
    expect((await api.ask('/symbols', { key })).status).toBe(200);
    clock.time = expiresAt;
    expectRefusal(await api.ask('/symbols', { key }), 401, 'invalid_key');
  });

  test('a revoked key is refused once the service has followed the ledger, and the other keys of the account are not', async () => {
    const { ledger, clock, core } = api.service;
    const { account, issued } = await createAccount(ledger, { name: 'Two keys', plan: 'basic' }, clock.time);
    const other = await issueKey(ledger, account.id, {}, clock.time);
    for (const key of [issued.text, other.text]) expect((await api.ask('/usage', { key })).status).toBe(200);
    await ledger.keys.revoke(issued.key.id, clock.time);
    await core.follow();
    expectRefusal(await api.ask('/symbols', { key: issued.text }), 401, 'invalid_key');
    expect((await api.ask('/symbols', { key: other.text })).status).toBe(200);
  });

  test('a key that is created after it was refused is accepted', async () => {
    const { ledger, clock } = api.service;
    const [account] = await ledger.accounts.list();
    const key = createKey(secureRandom);
    expectRefusal(await api.ask('/symbols', { key }), 401, 'invalid_key');
    const issued = await issueKey(ledger, account!.id, {}, clock.time);
    expect((await api.ask('/symbols', { key: issued.text })).status).toBe(200);
  });

  test('a new plan of the account, or a change of the plan itself, takes effect once it is followed', async () => {
    const { ledger, clock, core } = api.service;
    const made = await createAccount(ledger, { name: 'Grows', plan: 'basic' }, clock.time);
    const key = made.issued.text;
    expect((await api.ask('/usage', { key })).body).toMatchObject({ plan: 'basic', quota: 10_000 });
    await ledger.accounts.update(made.account.id, { plan: 'pro' });
    await core.follow();
    expect((await api.ask('/usage', { key })).body).toMatchObject({ plan: 'pro', quota: 100_000 });
    await api.service.setPlan({ name: 'pro', quota: 7 });
    expect((await api.ask('/usage', { key })).body).toMatchObject({ plan: 'pro', quota: 7 });
  });

  test('a key on a new plan works before the service has followed the ledger', async () => {
    const { ledger } = api.service;
    const plan = {
      quota: 5,
      delaySeconds: 7,
      maxSymbols: 1,
      maxSpanDays: 30,
      burstPerSecond: 9,
      history: true,
    };
    await ledger.plans.set({ name: 'brand-new', ...plan });
    const key = await api.service.key('brand-new');
    expect(await planOf('/usage', key)).toBe('brand-new');
  });
});
