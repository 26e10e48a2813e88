import { expect, test } from 'bun:test';
import { printDay } from '../../../src/market/day.ts';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { OPERATOR_HEADERS, OPERATOR_SETTINGS } from '../../support/operator.ts';
import { MINUTE, NOON } from '../../support/service.ts';

const DAYS = 4_100;
const LAST = Date.UTC(2024, 4, 14) / 86_400_000;
const RANGE = `startDate=${printDay(LAST - DAYS + 1)}&endDate=${printDay(LAST)}`;
const HISTORY = `/rates/history?symbols=XAU&${RANGE}`;
const AS_OF = `&asOf=${new Date(NOON).toISOString()}`;

onEachEngine('tables that are read from the ledger', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    const days = Array.from({ length: DAYS }, (_, i) => [printDay(LAST - i), 2_000 + (i % 90)] as const);
    await service.publish('XAU', Object.fromEntries(days), 'test', NOON - 2);
    const corrected = days.slice(0, 1_500).map(([date, price]) => [date, price + 0.5] as const);
    await service.publish('XAU', Object.fromEntries(corrected), 'test', NOON - 1);
    await service.setPlan({ name: 'two', quota: 2 });
  });
  const usedBy = async (key: string) => (await api.ask('/usage', { key })).body.used;

  test('are complete, and cost one unit per started 2,000 rows', async () => {
    for (const format of ['csv', 'ndjson']) {
      const key = await api.service.key();
      const past = await api.ask(`${HISTORY}&format=${format}${AS_OF}`, { key });
      expect(past.status).toBe(200);
      expect(past.headers.has('link')).toBe(false);
      expect(past.text).toBe((await api.ask(`${HISTORY}&format=${format}`)).text);
      expect(await usedBy(key)).toBe(3);
    }
  });

  test('of revisions have every version', async () => {
    const key = await api.service.key();
    const { text } = await api.ask(`/rates/revisions?symbols=XAU&${RANGE}&format=csv`, { key });
    expect(text.trim().split('\r\n')).toHaveLength(1 + 2 * 1_500);
    expect(await usedBy(key)).toBe(2);
  });

  test('are refused when the quota is too small, and cost only the unit for the read', async () => {
    const key = await api.service.key('two');
    expectRefusal(await api.ask(`${HISTORY}&format=csv${AS_OF}`, { key }), 429, 'quota_exhausted');
    expect(await usedBy(key)).toBe(1);
  });

  test('cost only the unit for the read with HEAD and 304', async () => {
    const path = `${HISTORY}&format=csv${AS_OF}`;
    const etag = (await api.ask(path)).headers.get('etag')!;
    const key = await api.service.key();
    expect((await api.ask(path, { key, headers: { 'if-none-match': etag } })).status).toBe(304);
    expect((await api.ask(path, { key, method: 'HEAD' })).status).toBe(200);
    expect(await usedBy(key)).toBe(2);
  });
});

onEachEngine('the tag of a table that is read from the ledger', (engine) => {
  const api = apiOn(engine, { settings: OPERATOR_SETTINGS }, async ({ service }) => {
    for (const code of ['XAU', 'XAG'])
      await service.publish(code, { '2024-05-14': 30 }, 'test', NOON - 1_200 * MINUTE);
    await service.setPlan({ name: 'late', delaySeconds: 600 });
  });
  /** For a new account: one that has just bought a file gets it again. */
  const tagOf = async (path: string, plan: string) => {
    const { status, headers } = await api.ask(path, { key: await api.service.key(plan), method: 'HEAD' });
    expect(status).toBe(200);
    return headers.get('etag');
  };

  test.each([
    '/rates/history.parquet?symbols=XAU&interval=minute&startDate=2024-05-15&endDate=2024-05-15',
    '/rates/history.parquet?symbols=XAU&startDate=2024-05-13&endDate=2024-05-15&asOf=2024-05-15',
    '/rates/revisions.parquet?symbols=XAU&startDate=2024-05-13&endDate=2024-05-15',
  ])('changes when a delayed plan sees more, and otherwise stays: %s', async (path) => {
    const { service } = api;
    await service.tick('XAU', 31);
    await service.publish('XAU', { '2024-05-15': 32 });
    await service.publish('XAU', { '2024-05-15': 33 });
    const atOnce = await tagOf(path, 'unlimited');
    const hidden = await tagOf(path, 'late');
    service.clock.time += 10 * MINUTE;
    const shown = await tagOf(path, 'late');
    expect(shown).not.toBe(hidden);
    service.clock.time += 10 * MINUTE;
    expect(await tagOf(path, 'late')).toBe(shown);
    expect(await tagOf(path, 'unlimited')).toBe(atOnce);
  });

  test('changes when a named formula is redefined', async () => {
    const define = async (expression: string, unit = 'none') => {
      const body = JSON.stringify({ name: 'Mine', unit, currency: 'none', expression });
      const options = { key: '', headers: OPERATOR_HEADERS, method: 'PUT', body };
      expect((await api.ask('/admin/formulas/MINE', options)).status).toBeLessThan(300);
      await api.service.core.follow();
    };
    const path =
      '/rates/history.parquet?symbols=MINE&startDate=2024-05-14&endDate=2024-05-14&asOf=2024-05-14';
    await define('{XAU}/{XAG}');
    const tags = [await tagOf(path, 'unlimited')];
    await define('{XAU}*2/{XAG}');
    tags.push(await tagOf(path, 'unlimited'));
    await define('{XAU}*2/{XAG}', 'Bbl');
    tags.push(await tagOf(path, 'unlimited'));
    expect(new Set(tags).size).toBe(3);
  });
});
