import { expect, test } from 'bun:test';
import { createAccount, issueKey } from '../../../src/gate/onboarding.ts';
import { periodOf } from '../../../src/ledger/quota/period.ts';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { eventually } from '../../support/program.ts';

/** Requests that cost a unit. */
const PAID = [
  '/symbols',
  '/rates/latest?symbols=XAU',
  '/rates/historical?symbols=XAU&date=2024-05-14',
  '/rates/time-series?symbols=XAU&startDate=2024-05-11&endDate=2024-05-12', // empty, but a success
  '/rates/fluctuation?symbols=XAU&startDate=2024-05-13&endDate=2024-05-14',
];

onEachEngine('quota', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-13': 2336, '2024-05-14': 2358 });
    await service.setPlan({ name: 'small', quota: 3 });
  });
  const usedBy = async (key: string) => (await api.ask('/usage', { key })).body.used;

  test('each response with data costs one unit, whatever its size', async () => {
    const key = await api.service.key('basic');
    for (const [i, path] of PAID.entries()) {
      expect((await api.ask(path, { key })).status).toBe(200);
      expect(await usedBy(key), path).toBe(i + 1);
    }
    await api.ask('/rates/latest?symbols=XAU,GOLD', { key });
    await api.ask(`/v1/symbols/?apiKey=${key}`, { key: '' });
    expect(await usedBy(key)).toBe(PAID.length + 2);
  });

  test('errors, 304, HEAD, preflights, usage and health are free', async () => {
    const key = await api.service.key('basic');
    for (const path of [
      '/rates/latest',
      '/rates/latest?symbols=NOPE',
      '/rates/latest?symbols=ZINC',
      '/rates/historical?symbols=XAU&date=2199-01-01',
      '/nowhere',
      '/usage',
      '/health',
    ]) {
      await api.ask(path, { key });
    }
    for (const path of PAID) {
      await api.ask(path, { key, method: 'HEAD' });
      await api.ask(path, { key, method: 'OPTIONS' });
      await api.ask(path, { key, method: 'POST' });
      expect((await api.ask(path, { key, headers: { 'if-none-match': '*' } })).status).toBe(304);
    }
    expect(await usedBy(key)).toBe(0);
  });

  test('a file can be read after the plan was raised, also if the process has just reloaded its accounts', async () => {
    const { ledger, clock, core } = api.service;
    await api.service.setPlan({ name: 'tiny', quota: 1 });
    const { account, issued } = await createAccount(ledger, { name: 'Ant', plan: 'tiny' }, clock.time);
    const file = '/rates/history.parquet?symbols=XAU&endDate=2024-05-14';
    const read = async (startDate: string) =>
      (await api.ask(`${file}&startDate=${startDate}`, { key: issued.text })).status;
    expect([await read('2024-05-13'), await read('2024-05-12')]).toEqual([200, 429]);
    const period = periodOf(await ledger.quota.now());
    await eventually(async () => (await ledger.quota.usage(account.id, period)).used === 1);
    const [plan] = (await ledger.plans.list()).filter(({ name }) => name === 'tiny');
    await ledger.plans.set({ ...plan!, quota: 100 });
    const { account: other } = await createAccount(ledger, { name: 'Bee', plan: 'tiny' }, clock.time);
    await ledger.accounts.delete(other.id);
    await core.follow();
    expect(await read('2024-05-12')).toBe(200);
  });

  test('when it is exhausted the response is 429 with the time of the reset, and no further unit is spent', async () => {
    const key = await api.service.key('small');
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => api.ask('/rates/latest?symbols=XAU', { key })),
    );
    expect(replies.filter((reply) => reply.status === 200)).toHaveLength(3);
    const reply = await api.ask('/symbols', { key });
    const message = expectRefusal(reply, 429, 'quota_exhausted');
    expect(message).toContain('3 requests');
    const resetAt = await api.service.resetAt();
    expect(message).toContain(new Date(resetAt).toISOString());
    expect(reply.body.resetAt).toBe(resetAt / 1000);
    const [, seconds] = /^"month";r=0;t=(\d+)$/.exec(reply.headers.get('ratelimit')!)!;
    expect(await api.service.isSecondsToReset(Number(seconds))).toBe(true);
    expect((await api.ask('/usage', { key })).body).toMatchObject({ quota: 3, used: 3, remaining: 0 });
  });

  test('an exhausted quota has no Retry-After: a client that obeys it would sleep for weeks', async () => {
    const key = await api.service.key('small');
    for (let i = 0; i < 3; i++) await api.ask('/symbols', { key });
    for (const path of ['/symbols', '/rates/stream?symbols=XAU', '/rates/latest?symbols=XAU']) {
      const reply = await api.ask(path, { key });
      expectRefusal(reply, 429, 'quota_exhausted');
      expect(reply.headers.get('retry-after'), path).toBeNull();
    }
  });

  test('with nothing left, errors take precedence over the quota, and free requests stay free', async () => {
    const key = await api.service.key('small');
    for (let i = 0; i < 3; i++) await api.ask('/symbols', { key });
    expectRefusal(await api.ask('/rates/latest', { key }), 400, 'missing_parameter');
    expectRefusal(await api.ask('/rates/latest?symbols=NOPE', { key }), 404, 'unknown_symbol');
    expectRefusal(await api.ask('/rates/latest?symbols=ZINC', { key }), 404, 'no_data');
    expect((await api.ask('/symbols', { key, headers: { 'if-none-match': '*' } })).status).toBe(304);
    expect((await api.ask('/symbols', { key, method: 'HEAD' })).status).toBe(200);
    expect((await api.ask('/usage', { key })).status).toBe(200);
    expectRefusal(await api.ask('/symbols', { key }), 429, 'quota_exhausted');
  });

  test('the keys of an account share its quota, other accounts do not', async () => {
    const { ledger, clock } = api.service;
    const { account, issued } = await createAccount(ledger, { name: 'Two keys', plan: 'small' }, clock.time);
    const second = await issueKey(ledger, account.id, {}, clock.time);
    await api.ask('/symbols', { key: issued.text });
    await api.ask('/symbols', { key: second.text });
    expect(await usedBy(issued.text)).toBe(2);
    expect((await api.ask('/symbols', { key: second.text })).status).toBe(200);
    expectRefusal(await api.ask('/symbols', { key: issued.text }), 429, 'quota_exhausted');
    expect((await api.ask('/symbols', { key: await api.service.key('small') })).status).toBe(200);
  });

  test('a plan with a larger quota lets the account continue', async () => {
    await api.service.setPlan({ name: 'grows', quota: 1 });
    const key = await api.service.key('grows');
    await api.ask('/symbols', { key });
    expectRefusal(await api.ask('/symbols', { key }), 429, 'quota_exhausted');
    await api.service.setPlan({ name: 'grows', quota: 2 });
    await eventually(async () => (await api.ask('/symbols', { key })).status === 200);
  });
});
