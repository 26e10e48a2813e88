import { expect, test } from 'bun:test';
import { apiOn, expectRefusal, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { OPERATOR_SETTINGS, OPERATOR_TOKEN, operatorOf } from '../../support/operator.ts';

onEachEngine('the audit endpoint', (engine) => {
  const api = apiOn(engine, { settings: OPERATOR_SETTINGS });
  const send = operatorOf(api);
  const entries = async (query = '') => (await send('GET', `/admin/audit${query}`)).body.entries as Json[];
  const newAccount = async (headers?: Record<string, string>) => {
    const { body } = await send('POST', '/admin/accounts', { name: 'Acme', plan: 'basic' }, headers);
    return { id: String((body.account as Json).id), key: String(body.apiKey), keyId: (body.key as Json).id };
  };

  test('says who made a change and how: the API, the page, or a customer with a key', async () => {
    const { id } = await newAccount({ 'openpit-operator': 'Ada' });
    await send('PATCH', `/admin/accounts/${id}`, { plan: 'pro' }, { 'sec-fetch-site': 'same-origin' });
    const [changed, , created] = await entries('?limit=3');
    expect(created).toMatchObject({ actor: 'Ada', via: 'api', action: 'account.create', target: id });
    expect(changed).toMatchObject({
      actor: 'operator',
      via: 'page',
      action: 'account.update',
      details: { plan: ['basic', 'pro'] },
    });
    const { key, keyId } = await newAccount();
    const made = await api.ask('/account/keys', { method: 'POST', key, body: '{"name":"backend"}' });
    expect(made.body.key).toMatchObject({ name: 'backend' });
    expect((await entries('?limit=1'))[0]).toMatchObject({
      actor: keyId,
      via: 'key',
      action: 'key.create',
      target: (made.body.key as Json).id,
      details: { name: 'backend' },
    });
    expect(JSON.stringify(await entries('?limit=1000'))).not.toContain(String(made.body.apiKey));
    expect(JSON.stringify(await entries('?limit=1000'))).not.toContain(OPERATOR_TOKEN);
  });

  test('an operator’s name is shortened to 64 characters', async () => {
    await newAccount({ 'openpit-operator': 'x'.repeat(100) });
    const [entry] = await entries('?limit=1');
    expect(String(entry!.actor)).toBe('x'.repeat(64));
  });

  test('reading and refused changes leave no entry', async () => {
    const before = await entries('?limit=1');
    await send('GET', '/admin/accounts');
    await send('PATCH', '/admin/accounts/none', { plan: 'pro' });
    await send('PUT', '/admin/plans/NOT%20A%20NAME', { quota: 5 });
    expect(await entries('?limit=1')).toEqual(before);
  });

  test('pages are linked, and a search narrows them down', async () => {
    const { id } = await newAccount();
    const first = await send('GET', '/admin/audit?limit=1');
    expect(first.body.next).toBeString();
    const second = await send('GET', String(first.body.next));
    expect(second.body.entries).toMatchObject([{ action: 'account.create', target: id }]);
    expect(await entries(`?search=${id}`)).toMatchObject([{ action: 'account.create' }]);
    expect((await send('GET', `/admin/audit?search=${id}`)).body.next).toBeNull();
    expectRefusal(await send('GET', '/admin/audit?limit=0'), 400, 'invalid_parameter');
    expectRefusal(await send('GET', '/admin/audit?before=x'), 400, 'invalid_parameter');
    expect((await api.ask('/admin/audit', { key: '' })).status).toBe(401);
  });

  test('rules of a key can be changed, by the operator and by the owner of an unrestricted key', async () => {
    const { key, keyId } = await newAccount();
    const rules = { name: 'web', allowedIps: ['192.0.2.0/24'], headerOnly: true };
    const second = (await api.ask('/account/keys', { method: 'POST', key, body: '{}' })).body;
    const id = (second.key as Json).id;
    const changed = await send('PATCH', `/admin/keys/${id}`, rules);
    expect(changed.body.key).toMatchObject({ id, ...rules });
    await api.service.core.follow();
    expectRefusal(await api.ask('/account', { key: String(second.apiKey) }), 403, 'key_not_allowed');
    const lifted = JSON.stringify({ allowedIps: null, headerOnly: false, expiresAt: 4_000_000_000 });
    const byOwner = await api.ask(`/account/keys/${id}`, { method: 'PATCH', key, body: lifted });
    expect(byOwner.body.key).toMatchObject({ name: 'web', allowedIps: null, expiresAt: 4_000_000_000 });
    await api.service.core.follow();
    const expiring = { key: String(second.apiKey), method: 'PATCH' };
    const renamed = await api.ask(`/account/keys/${id}`, { ...expiring, body: '{"name":"new"}' });
    expect(renamed.body.key).toMatchObject({ name: 'new' });
    const free = await api.ask(`/account/keys/${id}`, { ...expiring, body: '{"expiresAt":null}' });
    expectRefusal(free, 403, 'key_not_allowed');
    expectRefusal(await send('PATCH', `/admin/keys/${keyId}`, { expiresAt: 1 }), 400, 'invalid_body');
    expectRefusal(await send('PATCH', '/admin/keys/none', { name: 'x' }), 404, 'not_there');
  });
});
