import { expect, test } from 'bun:test';
import { PUBLIC_ACCOUNT } from '../../../src/gate/onboarding.ts';
import type { SyncRequest } from '../../../src/ledger/quota/model.ts';
import { periodOf } from '../../../src/ledger/quota/period.ts';
import { apiOn, expectRefusal, type Json, type Reply } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

onEachEngine('an account and its keys', (engine) => {
  const api = apiOn(engine, { settings: { OPENPIT_PUBLIC_PLAN: 'free' } });
  const send = (method: string, path: string, key: string, body?: unknown): Promise<Reply> =>
    api.ask(path, { method, key, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const keysOf = async (key: string) => (await api.ask('/account/keys', { key })).body.keys as Json[];
  const idOf = async (key: string) => ((await api.ask('/account', { key })).body.key as Json).id;
  const created = async (key: string, body: object = {}) => {
    const reply = await send('POST', '/account/keys', key, body);
    expect(reply.status, reply.text).toBe(200);
    return reply.body as { apiKey: string; key: Json };
  };

  test('GET /account returns the account, its plan and the key’s restrictions, for free', async () => {
    const key = await api.service.key('basic');
    expect((await api.ask('/account', { key })).body).toMatchObject({
      success: true,
      account: { name: 'Test', status: 'active' },
      plan: { name: 'basic', quota: 10_000, maxSymbols: 20 },
      key: { status: 'active', headerOnly: false, allowedIps: null, expiresAt: null },
    });
    expect((await api.ask('/usage', { key })).body.used).toBe(0);
  });

  test('GET /usage/daily has up-to-date usage by day and endpoint', async () => {
    const key = await api.service.key('basic');
    await api.ask('/symbols', { key });
    await api.ask('/symbols', { key });
    const { days, endDate, events } = await api.service.dailyUsage(key);
    expect(days).toEqual([{ date: endDate, endpoint: 'symbols', count: 2 }]);
    expect(events).toEqual([]);
  });

  test('GET /usage/daily says so when another replica has not reported', async () => {
    const key = await api.service.key('basic');
    const { ledger } = api.service.core;
    const accountId = ((await api.ask('/account', { key })).body.account as Json).id as string;
    const ofSilentReplica: SyncRequest = {
      leaseId: `lease of ${accountId}`,
      accountId,
      period: periodOf(await ledger.quota.now()),
      replica: 'silent',
      spentBy: {},
      seq: 1,
      want: 100,
      need: 100,
      least: 100,
      barrierSeen: 0,
      close: false,
    };
    await ledger.quota.sync([ofSilentReplica]);
    const { body } = await api.ask('/usage/daily', { key });
    expect(body).toMatchObject({ success: true, exact: false, asOf: expect.any(Number), days: [] });
    await ledger.quota.sync([{ ...ofSilentReplica, seq: 2, want: 0, need: 0, least: 0, close: true }]);
    expect(await api.service.dailyUsage(key)).not.toContainAnyKeys(['exact', 'asOf']);
  });

  test('a key can be created, used and revoked', async () => {
    const key = await api.service.key();
    const made = await created(key);
    expect((await api.ask('/account', { key: made.apiKey })).status).toBe(200);
    expect(await keysOf(key)).toHaveLength(2);
    expect((await send('DELETE', `/account/keys/${made.key.id}`, key)).body).toEqual({
      success: true,
      id: made.key.id,
      revoked: true,
    });
    await api.service.core.follow();
    expectRefusal(await api.ask('/account', { key: made.apiKey }), 401, 'invalid_key');
  });

  test('only the first response contains a key’s text, and none its hash', async () => {
    const key = await api.service.key();
    const { apiKey } = await created(key);
    const { text } = await api.ask('/account/keys', { key });
    expect(text).not.toContain(apiKey);
    expect(text).not.toContain('hash');
  });

  test('an account may have 100 keys, and revoking one frees no place within a day', async () => {
    const key = await api.service.key('unlimited');
    const ids: unknown[] = [];
    for (let i = 1; i < 100; i++) ids.push((await created(key)).key.id);
    expectRefusal(await send('POST', '/account/keys', key, {}), 409, 'conflict');
    expectRefusal(await send('POST', `/account/keys/${ids[0]}/rotate`, key, {}), 409, 'conflict');
    await send('DELETE', `/account/keys/${ids[0]}`, key);
    expectRefusal(await send('POST', '/account/keys', key, {}), 409, 'conflict');
    api.service.clock.time += 86_400_000;
    await created(key);
    expectRefusal(await send('POST', '/account/keys', key, {}), 409, 'conflict');
  });

  test('the last active key cannot revoke itself', async () => {
    const key = await api.service.key();
    const [own] = await keysOf(key);
    expectRefusal(await send('DELETE', `/account/keys/${own!.id}`, key), 409, 'conflict');
    expect((await api.ask('/account', { key })).status).toBe(200);
  });

  test('two keys that revoke each other at the same time leave one', async () => {
    const key = await api.service.key();
    const other = await created(key);
    const own = await idOf(key);
    const replies = await Promise.all([
      send('DELETE', `/account/keys/${other.key.id}`, key),
      send('DELETE', `/account/keys/${own}`, other.apiKey),
    ]);
    // The other request found its own key revoked, or itself the last active one.
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.some(({ status }) => status === 401 || status === 409)).toBe(true);
  });

  test('a rotated key works during its overlap, with the same restrictions', async () => {
    const key = await api.service.key();
    const restricted = await created(key, { headerOnly: true, allowedIps: ['127.0.0.0/8', '::1'] });
    const path = `/account/keys/${restricted.key.id}/rotate`;
    const { body } = await send('POST', path, restricted.apiKey, { overlapSeconds: 60 });
    expect(body.key).toMatchObject({ headerOnly: true, allowedIps: ['127.0.0.0/8', '::1'], expiresAt: null });
    await api.service.core.follow();
    expect((await api.ask('/account', { key: restricted.apiKey })).status).toBe(200);
    api.service.clock.time += 61_000;
    expectRefusal(await api.ask('/account', { key: restricted.apiKey }), 401, 'invalid_key');
    expect((await api.ask('/account', { key: String(body.apiKey) })).status).toBe(200);
  });

  test('a rotated key cannot be replaced by one that outlives its overlap', async () => {
    const key = await api.service.key();
    const path = `/account/keys/${await idOf(key)}/rotate`;
    await send('POST', path, key, { overlapSeconds: 60 });
    await api.service.core.follow();
    const { body } = await send('POST', path, key, { overlapSeconds: 3_600 });
    expect((body.key as Json).expiresAt).toBe(Math.floor(api.service.clock.time / 1000) + 60);
  });

  test('a restricted key cannot create a less restricted one, or rotate another', async () => {
    const key = await api.service.key();
    const soon = Math.floor(api.service.clock.time / 1000) + 3_600;
    const rules = { headerOnly: true, allowedIps: ['127.0.0.1', '::1'], expiresAt: soon };
    const restricted = await created(key, rules);
    const made = await created(restricted.apiKey, {
      allowedIps: ['0.0.0.0/0', '::/0'],
      expiresAt: soon + 999_999,
    });
    expect(made.key).toMatchObject(rules);
    expectRefusal(
      await send('POST', `/account/keys/${await idOf(key)}/rotate`, restricted.apiKey),
      403,
      'key_not_allowed',
    );
  });

  test('a key with allowed addresses gives a new one the requested ones among them, and none outside', async () => {
    const own = ['127.0.0.0/8', '10.1.0.0/16', '10.2.0.7', '::1', '2001:db8::/32'];
    const { apiKey } = await created(await api.service.key(), { allowedIps: own });
    const allowed = async (allowedIps?: string[]) =>
      (await created(apiKey, allowedIps ? { allowedIps } : {})).key.allowedIps;
    expect(await allowed(['10.1.2.0/24', '10.2.0.7'])).toEqual(['10.1.2.0/24', '10.2.0.7']);
    expect(await allowed(['2001:db8:1::/48', '::ffff:10.1.0.9'])).toEqual([
      '2001:db8:1::/48',
      '::ffff:10.1.0.9',
    ]);
    expect(await allowed(['10.0.0.0/8'])).toEqual(['10.1.0.0/16', '10.2.0.7']);
    expect(await allowed(['10.0.0.0/8', '10.1.0.0/16'])).toEqual(['10.1.0.0/16', '10.2.0.7']);
    expect(await allowed(['127.0.0.0/8'])).toEqual(['127.0.0.0/8']);
    expect(await allowed()).toEqual(own);
    expect(await allowed([])).toEqual(own);
    for (const outside of ['10.3.0.0/16', '10.2.0.8', '::2', '::ffff:0:0/96']) {
      const reply = await send('POST', '/account/keys', apiKey, { allowedIps: ['10.1.0.0/24', outside] });
      expect(expectRefusal(reply, 400, 'invalid_body')).toBe(
        `The body is invalid: allowedIps: this key may not be used from ${outside}, so it cannot allow that.`,
      );
    }
    const narrow = await created(apiKey, { allowedIps: ['10.1.2.0/24'] });
    await api.service.core.follow();
    expectRefusal(await api.ask('/account', { key: narrow.apiKey }), 403, 'key_not_allowed');
  });

  test('changes need the key in the header', async () => {
    const key = await api.service.key();
    const reply = await send('POST', `/account/keys?apiKey=${key}`, '', {});
    expectRefusal(reply, 403, 'key_not_allowed');
    const readable = await api.ask(`/account/keys?apiKey=${key}`, { key: '' });
    expect(readable.status).toBe(200);
  });

  test('another account’s key is not there', async () => {
    const [theirs] = await keysOf(await api.service.key());
    const key = await api.service.key();
    expectRefusal(await send('DELETE', `/account/keys/${theirs!.id}`, key), 404, 'not_there');
    expectRefusal(await send('POST', `/account/keys/${theirs!.id}/rotate`, key), 404, 'not_there');
  });

  const WRONG: [what: string, body: string, type: string][] = [
    ['no JSON', '{', 'application/json'],
    ['another type', '{}', 'text/plain'],
    ['a member too many', '{"admin":true}', 'application/json'],
    ['a bad address', '{"allowedIps":["10.0.0.0/99"]}', 'application/json'],
    ['a time that is past', '{"expiresAt":1}', 'application/json'],
    ['far too long', `{"x":"${'y'.repeat(20_000)}"}`, 'application/json'],
  ];
  test('a message about the body gives advice about its type only where that is wrong', async () => {
    const create = async (body: string, headers = {}) =>
      expectRefusal(await api.ask('/account/keys', { method: 'POST', body, headers }), 400, 'invalid_body');
    expect(await create('{"expiresAt":1}')).toBe('The body is invalid: expiresAt is in the past.');
    const typed = await create('{"name":"x"}', { 'content-type': 'text/plain' });
    expect(typed).toContain('send it with "Content-Type: application/json"');
  });

  for (const [what, body, type] of WRONG) {
    test(`a body with ${what} is invalid_body`, async () => {
      const headers = { 'content-type': type };
      const reply = await api.ask('/account/keys', { method: 'POST', body, headers });
      expectRefusal(reply, 400, 'invalid_body');
    });
  }

  test('other methods are refused, and Allow lists the right ones', async () => {
    const reply = await api.ask('/account/keys', { method: 'PUT' });
    expectRefusal(reply, 405, 'method_not_allowed');
    expect(reply.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
  });

  test('the public key can be used but cannot manage anything', async () => {
    const { given } = (await api.ask('/console/config', { key: '' })).body as { given: { key: string } };
    expect((await api.ask('/account', { key: given.key })).body.account).toMatchObject({
      id: PUBLIC_ACCOUNT,
    });
    const [own] = await keysOf(given.key);
    expectRefusal(await send('POST', '/account/keys', given.key, {}), 403, 'key_not_allowed');
    expectRefusal(await send('DELETE', `/account/keys/${own!.id}`, given.key), 403, 'key_not_allowed');
  });
});
