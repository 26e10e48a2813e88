import { describe, expect, test } from 'bun:test';
import { apiOn, expectRefusal } from '../support/api.ts';

const TOKEN = 'a-long-token-of-the-operator';

describe('the admin token', () => {
  const api = apiOn('sqlite', {
    settings: {
      OPENPIT_ADMIN_TOKEN: TOKEN,
      OPENPIT_FAILED_KEYS_PER_MINUTE: '3',
      OPENPIT_TRUSTED_PROXIES: '127.0.0.1',
    },
  });
  const ask = (path: string, token: string, client: string) =>
    api.ask(path, { key: '', headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': client } });

  test('cannot be guessed through /metrics: failures there and under /admin are counted together', async () => {
    const client = '203.0.113.1';
    expectRefusal(await ask('/metrics', 'wrong 1', client), 401, 'invalid_admin_token');
    expectRefusal(await ask('/admin/plans', 'wrong 2', client), 401, 'invalid_admin_token');
    expectRefusal(await ask('/metrics', 'wrong 3', client), 401, 'invalid_admin_token');
    for (const path of ['/metrics', '/admin/plans'])
      expectRefusal(await ask(path, 'wrong 4', client), 429, 'rate_limited');
  });

  test('passes regardless of earlier failures from its address', async () => {
    const client = '203.0.113.11';
    for (let i = 0; i < 10; i++) await ask('/admin/plans', `wrong ${i}`, client);
    for (const path of ['/metrics', '/admin/plans', '/admin/accounts'])
      expect((await ask(path, TOKEN, client)).status, path).toBe(200);
    expect((await ask('/admin/plans', 'wrong', client)).status).toBe(429); // a success does not reset the count
  });

  test('is required, and a missing one is not counted as a failure', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.12' };
    for (let i = 0; i < 60; i++)
      expectRefusal(await api.ask('/admin/plans', { key: '', headers }), 401, 'invalid_admin_token');
    for (const authorization of ['', 'Bearer', 'Bearer ', 'Basic YTpi'])
      await api.ask('/admin/plans', { key: '', headers: { ...headers, authorization } });
    expectRefusal(await ask('/admin/plans', 'wrong', headers['x-forwarded-for']), 401, 'invalid_admin_token');
  });

  test('that is wrong too often gets an exact Retry-After', async () => {
    const client = '203.0.113.13';
    for (let i = 0; i < 3; i++) await ask('/admin/plans', `wrong ${i}`, client);
    const wait = async () => (await ask('/admin/plans', 'wrong', client)).headers.get('retry-after');
    expect(await wait()).toBe('60');
    api.service.clock.time += 45_000;
    expect(await wait()).toBe('15');
  });

  test('failures of one client do not block another, and a client cannot claim another address', async () => {
    const [guesser, other] = ['203.0.113.2', '203.0.113.3'];
    for (let i = 0; i < 4; i++) await ask('/admin/plans', `wrong ${i}`, `198.51.100.${i}, ${guesser}`);
    expectRefusal(await ask('/admin/plans', 'wrong', `198.51.100.9, ${guesser}`), 429, 'rate_limited');
    expectRefusal(await ask('/admin/plans', 'wrong', other), 401, 'invalid_admin_token');
  });

  test.each([
    ['its beginning', TOKEN.slice(0, -1)],
    ['with more behind it', `${TOKEN}x`],
    ['in capitals', TOKEN.toUpperCase()],
    ['twice', `${TOKEN}, Bearer ${TOKEN}`],
  ])('is not %s', async (name, token) => {
    expectRefusal(await ask('/admin/plans', token, `198.51.100.${name.length}`), 401, 'invalid_admin_token');
  });

  test('is accepted only in its header', async () => {
    const client = { 'x-forwarded-for': '203.0.113.9' };
    const ways = [
      api.ask(`/admin/plans?token=${TOKEN}&access_token=${TOKEN}&apiKey=${TOKEN}`, {
        key: '',
        headers: client,
      }),
      api.ask('/admin/plans', { key: TOKEN, headers: client }),
      api.ask('/admin/plans', { key: '', headers: { ...client, cookie: `token=${TOKEN}` } }),
    ];
    for (const way of ways) expectRefusal(await way, 401, 'invalid_admin_token');
  });
});
