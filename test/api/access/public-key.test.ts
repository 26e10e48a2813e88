import { expect, test } from 'bun:test';
import { hashKey } from '../../../src/gate/key.ts';
import { PUBLIC_ACCOUNT } from '../../../src/gate/onboarding.ts';
import { VISITOR_UNITS_MAX, VISITOR_UNITS_PER_MINUTE } from '../../../src/gate/visitors.ts';
import { MS_PER_DAY, printDay } from '../../../src/market/day.ts';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE, openTestService } from '../../support/service.ts';

onEachEngine('the key that the page gives to everybody', (engine) => {
  const settings = { OPENPIT_PUBLIC_PLAN: 'free', OPENPIT_TRUSTED_PROXIES: '127.0.0.1' };
  const api = apiOn(engine, { settings }, async ({ service }) => {
    await service.setPlan({
      name: 'free',
      quota: 10,
      delaySeconds: 3600,
      maxSymbols: 5,
      burstPerSecond: 200,
    });
    await service.publish('XAU', { '2024-05-13': 2336.1, '2024-05-14': 2358.2 });
    const { given } = (await api.ask('/console/config', { key: '' })).body as { given: { key: string } };
    api.key = given.key;
  });
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
  const latest = '/rates/latest?symbols=XAU';
  const use = async (address: string, times: number) => {
    for (let i = 0; i < times; i++) expect((await api.ask(latest, from(address))).status).toBe(200);
  };

  test('is limited per address: one visitor cannot use up what the others need', async () => {
    await use('198.51.100.1', VISITOR_UNITS_MAX);
    const refused = await api.ask(latest, from('198.51.100.1'));
    expectRefusal(refused, 429, 'rate_limited');
    expect(Number(refused.headers.get('retry-after'))).toBe(60 / VISITOR_UNITS_PER_MINUTE);
    await use('198.51.100.2', 1);
  });

  test('has no monthly quota that its visitors could exhaust', async () => {
    for (let i = 0; i < 30; i++) await use(`203.0.113.${i}`, 1);
    expect((await api.ask('/usage', from('203.0.113.99'))).body).toMatchObject({ quota: 10, used: 0 });
  });

  test('regains units with time, up to the limit', async () => {
    await use('198.51.100.3', VISITOR_UNITS_MAX);
    api.service.clock.time += MINUTE;
    await use('198.51.100.3', VISITOR_UNITS_PER_MINUTE);
    expectRefusal(await api.ask(latest, from('198.51.100.3')), 429, 'rate_limited');
    api.service.clock.time += 24 * 60 * MINUTE;
    await use('198.51.100.3', VISITOR_UNITS_MAX);
    expectRefusal(await api.ask(latest, from('198.51.100.3')), 429, 'rate_limited');
  });

  test('counts the networks of IPv6 as one address each', async () => {
    await use('2001:db8:1:2::1', VISITOR_UNITS_MAX / 2);
    await use('2001:db8:1:2:ffff::9', VISITOR_UNITS_MAX / 2);
    expectRefusal(await api.ask(latest, from('2001:db8:1:2:3::7')), 429, 'rate_limited');
  });

  test('pays for a market view like for any other response', async () => {
    const { headers } = await api.ask('/market', from('198.51.100.4'));
    expect(headers.get('openpit-visit')).not.toBeNull();
    const after = await api.ask(latest, from('198.51.100.4'));
    expect(after.headers.get('ratelimit')).toStartWith(`"address";r=${VISITOR_UNITS_MAX - 2};`);
  });

  test('has the limits of an address in the headers of every response, also of one that it shares with customers', async () => {
    const month = '"month";q=10;w=2592000, "burst";q=200;w=1';
    const address = `"address";q=${VISITOR_UNITS_MAX};w=600, "burst";q=200;w=1`;
    const key = await api.service.key('free');
    const history = '/rates/history?symbols=XAU&startDate=2024-05-13&endDate=2024-05-14';
    const asked: [path: string, init: { method?: string; ifNoneMatch?: string }, status: number][] = [
      ['/usage', {}, 200],
      [latest, {}, 200],
      [latest, {}, 200], // from the cache
      [latest, { ifNoneMatch: '*' }, 304],
      [latest, { method: 'HEAD' }, 200],
      ['/rates/latest.csv?symbols=XAU', {}, 200],
      [`${history}&format=csv`, {}, 200],
      [`${history}&format=csv`, { ifNoneMatch: '*' }, 304],
      [`${history}&format=csv`, { method: 'HEAD' }, 200],
      [`${history}&format=parquet`, {}, 200],
      [`${history}&format=parquet`, { ifNoneMatch: '*' }, 304],
      [`${history}&format=parquet`, { method: 'HEAD' }, 200],
      [`${history}&asOf=2024-05-14`, {}, 200],
      ['/market', {}, 200],
      ['/rates/latest', {}, 400],
    ];
    for (const [path, { method, ifNoneMatch }, status] of asked) {
      const headers = {
        'x-forwarded-for': '198.51.100.8',
        ...(ifNoneMatch && { 'if-none-match': ifNoneMatch }),
      };
      const policies: (string | null)[] = [];
      for (const own of [api.key, key]) {
        const response = await api.ask(path, { key: own, headers, ...(method && { method }) });
        expect(response.status, path).toBe(status);
        policies.push(response.headers.get('ratelimit-policy'));
        const limit = own === api.key ? 'address' : 'month';
        expect(response.headers.get('ratelimit'), path).toStartWith(`"${limit}";r=`);
      }
      expect(policies, `${method ?? 'GET'} ${path} ${status}`).toEqual([address, month]);
    }
  });

  test('reads no more of a long table than the address can pay for', async () => {
    const { service } = api;
    const first = Date.UTC(2008, 0, 1) / MS_PER_DAY;
    const days = Array.from({ length: 5_000 }, (_, i) => [printDay(first + i), 1_000 + i]);
    await service.publish('TIN', Object.fromEntries(days));
    await use('198.51.100.6', VISITOR_UNITS_MAX - 1);
    const reads = async () =>
      /past_reads_total\{server="primary"\} (\d+)/.exec((await api.ask('/metrics', { key: '' })).text)![1];
    const before = Number(await reads());
    const today = new Date(service.clock.time).toISOString().slice(0, 10);
    const path = `/rates/history.csv?symbols=TIN&startDate=2008-01-01&endDate=2024-05-01&asOf=${today}`;
    expectRefusal(await api.ask(path, from('198.51.100.6')), 429, 'rate_limited');
    expect(Number(await reads())).toBe(before + 1);
  });

  test('sends no more requests a second from one address than its plan allows', async () => {
    const answers = await Promise.all(
      Array.from({ length: 250 }, () => api.ask('/account', from('198.51.100.5'))),
    );
    const statuses = Map.groupBy(answers, ({ status }) => status);
    expect(statuses.get(200)).toHaveLength(200);
    expect(statuses.get(429)).toHaveLength(50);
    expect((await api.ask('/account', from('198.51.100.6'))).status).toBe(200);
  });

  test('sees what its plan may see, opens no streams and changes nothing', async () => {
    await api.service.tick('XAU', 2_999);
    api.service.clock.time += MINUTE;
    const address = from('198.51.100.7');
    expect((await api.ask(latest, address)).body.rates).toEqual({ XAU: 2358.2 });
    expect((await api.ask('/market', address)).text).not.toContain('2999');
    const many = '/rates/latest?symbols=XAU,XAG,PL,PA,CORN,TIN';
    expectRefusal(await api.ask(many, address), 400, 'too_many_symbols');
    expectRefusal(await api.ask('/rates/stream?symbols=XAU', address), 403, 'key_not_allowed');
    expectRefusal(
      await api.ask('/account/keys', { method: 'POST', body: '{}', ...address }),
      403,
      'key_not_allowed',
    );
  });

  test('is refused once the page no longer gives it out, and works again when it does', async () => {
    const { ledgerUrl } = api.service;
    expect((await api.service.ledger.accounts.find(PUBLIC_ACCOUNT))?.plan).toBe('free');
    const without = await openTestService(engine, { ledgerUrl, now: api.service.clock.time });
    const answer = await without.get(latest, api.key);
    expect(answer.status).toBe(403);
    const { code, message } = (await answer.json()) as { code: string; message: string };
    expect(code).toBe('key_not_allowed');
    expect(message).toContain('no longer gives it out');
    await without.close();
    await use('198.51.100.8', 1);
  });

  test('is replaced for the page as soon as it has been revoked', async () => {
    const { ledger, core } = api.service;
    const given = async () =>
      ((await api.ask('/console/config', { key: '' })).body as { given: { key: string } }).given.key;
    const revoked = await given();
    const known = await ledger.accounts.byKeyHash(hashKey(revoked));
    await ledger.keys.revoke(known!.key.id, api.service.clock.time);
    await core.follow();
    await core.follow();
    expectRefusal(await api.ask(latest, { key: revoked }), 401, 'invalid_key');
    api.key = await given();
    expect(api.key).not.toBe(revoked);
    await use('198.51.100.9', 1);
  });
});
