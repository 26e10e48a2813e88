import { beforeEach, expect, test } from 'bun:test';
import { createAccount, issueKey } from '../../../src/gate/onboarding.ts';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE } from '../../support/service.ts';

const LATEST = '/rates/latest?symbols=XAU,XAG';
const SERIES = '/rates/time-series?symbols=XAU&startDate=2024-05-01&endDate=2024-05-20';
const TIMES = 3;

onEachEngine('customers who ask for the same', (engine) => {
  const api = apiOn(
    engine,
    { settings: { OPENPIT_ADMIN_TOKEN: 'a-token-for-the-operator' } },
    async ({ service }) => {
      for (const code of ['XAU', 'XAG']) {
        await service.publish(code, { '2024-05-10': 100, '2024-05-13': 101, '2024-05-14': 102 });
      }
      await service.setPlan({ name: 'live', delaySeconds: 0, quota: 100_000 });
      await service.setPlan({ name: 'late', delaySeconds: 600, quota: 200_000 });
      await service.setPlan({ name: 'narrow', quota: 1_000, maxSymbols: 1, maxSpanDays: 7 });
    },
  );

  beforeEach(() => {
    api.service.clock.time += 15 * MINUTE; // no answer is current
  });

  /** Sends a request until its answer is cached, with the key in the header or in the URL, and returns the last reply. */
  async function warm(path: string, key: string, inUrl = false) {
    let reply = await send(path, key, inUrl);
    for (let i = 1; i < TIMES; i++) reply = await send(path, key, inUrl);
    return reply;
  }

  function send(path: string, key: string, inUrl = false, headers: Record<string, string> = {}) {
    return inUrl ? api.ask(`${path}&apiKey=${key}`, { key: '', headers }) : api.ask(path, { key, headers });
  }

  async function keyWith(options: Parameters<typeof issueKey>[2], plan = 'live') {
    const { ledger, clock } = api.service;
    const { account } = await createAccount(ledger, { name: 'One', plan }, clock.time);
    return issueKey(ledger, account.id, options, clock.time);
  }

  const cachedUrls = async () => {
    const { text } = await api.ask('/metrics', {
      key: '',
      headers: { authorization: 'Bearer a-token-for-the-operator' },
    });
    return Number(/^openpit_cache_entries\{cache="answers"\} (\d+)$/m.exec(text)![1]);
  };

  test('share one cached answer, wherever in the URL or the header they send their keys', async () => {
    const before = await cachedUrls();
    const expected = await warm(LATEST, await api.service.key('live'));
    for (let i = 0; i < 5; i++) {
      const key = await api.service.key('live');
      for (const url of [LATEST, `${LATEST}&apiKey=${key}`, `/rates/latest?apiKey=${key}&symbols=XAU,XAG`]) {
        await api.ask(url, { key: url === LATEST ? key : '' });
        const reply = await api.ask(url, { key: url === LATEST ? key : '' });
        expect([reply.status, reply.text]).toEqual([200, expected.text]);
        expect(reply.headers.get('etag')).toBe(expected.headers.get('etag'));
      }
    }
    expect(await cachedUrls()).toBe(before + 1);
  });

  test('each pay for their own answers, and see their own quota', async () => {
    const [a, b] = [await api.service.key('live'), await api.service.key('live')];
    await warm(LATEST, a);
    const reply = await send(LATEST, b, true);
    expect(reply.headers.get('ratelimit')).toStartWith('"month";r=99999;');
    expect((await api.ask('/usage', { key: a })).body.used).toBe(TIMES);
    expect((await api.ask('/usage', { key: b })).body.used).toBe(1);
    const ids = new Set<string | null>();
    for (const key of [a, b, a, b]) ids.add((await send(LATEST, key)).headers.get('x-request-id'));
    expect(ids.size).toBe(4);
  });

  test('see what their own delay allows, with their own tag', async () => {
    const [live, late] = [await api.service.key('live'), await api.service.key('late')];
    await api.service.tick('XAU', 555);
    const fresh = await warm(LATEST, live);
    const delayed = await warm(LATEST, late);
    expect((fresh.body.rates as Record<string, number>).XAU).toBe(555);
    expect((delayed.body.rates as Record<string, number>).XAU).toBe(102);
    expect(delayed.headers.get('etag')).not.toBe(fresh.headers.get('etag'));
    const [freshTag, delayedTag] = [fresh.headers.get('etag')!, delayed.headers.get('etag')!];
    expect((await send(LATEST, late, true, { 'if-none-match': freshTag })).status).toBe(200);
    expect((await send(LATEST, late, true, { 'if-none-match': delayedTag })).status).toBe(304);
    expect((await send(LATEST, live, true)).text).toBe(fresh.text);
  });

  test('are subject to the limits of their own plan, which their headers state', async () => {
    const [live, narrow] = [await api.service.key('live'), await api.service.key('narrow')];
    await warm(LATEST, live);
    await warm(SERIES, live);
    expectRefusal(await send(LATEST, narrow), 400, 'too_many_symbols');
    expectRefusal(await send(SERIES, narrow, true), 400, 'range_too_long');
    const one = '/rates/latest?symbols=XAU';
    const policies = [];
    for (const key of [live, narrow]) policies.push((await warm(one, key)).headers.get('ratelimit-policy'));
    expect(policies[0]).toStartWith('"month";q=100000;');
    expect(policies[1]).toStartWith('"month";q=1000;');
  });

  test('a key that may not be used from this address or in a URL gets nothing of a cached answer', async () => {
    await warm(LATEST, await api.service.key('live'));
    const elsewhere = await keyWith({ allowedIps: ['203.0.113.0/24'] });
    const headerOnly = await keyWith({ headerOnly: true });
    expectRefusal(await send(LATEST, elsewhere.text), 403, 'key_not_allowed');
    expectRefusal(await send(LATEST, headerOnly.text, true), 403, 'key_not_allowed');
    expect((await send(LATEST, headerOnly.text)).status).toBe(200);
  });

  test('an unknown, expired or revoked key, or one of a suspended account, gets nothing of a cached answer', async () => {
    const { ledger, clock, core } = api.service;
    const warmKey = await api.service.key('live');
    const expiring = await keyWith({ expiresAt: clock.time + MINUTE });
    const revoked = await keyWith({});
    const suspended = await keyWith({});
    for (const { text } of [expiring, revoked, suspended]) await warm(LATEST, text, true);
    await ledger.keys.revoke(revoked.key.id, clock.time);
    await ledger.accounts.update(suspended.key.accountId, { status: 'suspended' });
    await core.follow();
    clock.time += MINUTE;
    expect((await warm(LATEST, warmKey)).status).toBe(200);
    expectRefusal(await send(LATEST, expiring.text, true), 401, 'invalid_key');
    expectRefusal(await send(LATEST, revoked.text, true), 401, 'invalid_key');
    expectRefusal(await send(LATEST, suspended.text, true), 403, 'account_suspended');
    expectRefusal(await send(LATEST, 'wrong', true), 401, 'invalid_key');
    expectRefusal(await api.ask(LATEST, { key: '' }), 401, 'missing_key');
  });

  test('an exhausted quota is refused whatever others have cached', async () => {
    await api.service.setPlan({ name: 'two', quota: 2 });
    const two = await api.service.key('two');
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push((await send(LATEST, two, i % 2 === 0)).status);
    expect(statuses).toEqual([200, 200, 429, 429]);
  });

  test('a price that arrives within the second is seen by all of them at once', async () => {
    const keys = [await api.service.key('live'), await api.service.key('live')];
    for (const key of keys) await warm(LATEST, key, true);
    await api.service.tick('XAG', 777);
    for (const key of keys) {
      expect(((await send(LATEST, key)).body.rates as Record<string, number>).XAG).toBe(777);
    }
  });

  test('share it for minutes, with the time of each response', async () => {
    const key = await api.service.key('live');
    const before = await warm(LATEST, key);
    await warm(SERIES, key);
    const cached = await cachedUrls();
    expect(cached).toBeGreaterThanOrEqual(2);
    for (const seconds of [1, 59, 120]) {
      api.service.clock.time += seconds * 1_000;
      expect(await cachedUrls()).toBe(cached);
      const { text, headers } = await send(LATEST, key);
      const now = Math.floor(api.service.clock.time / 1_000);
      expect(text).toBe(before.text.replace(String(before.body.timestamp), String(now)));
      expect(headers.get('date')).toBe(new Date(now * 1_000).toUTCString());
      expect(headers.get('etag')).toBe(before.headers.get('etag'));
    }
  });
});
