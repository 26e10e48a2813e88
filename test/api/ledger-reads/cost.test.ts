import { expect, test } from 'bun:test';
import { type Api, apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

const AS_OF = 'asOf=2024-05-10';
const RANGE = 'startDate=2024-05-07&endDate=2024-05-08';

/** Requests that read the ledger and succeed. */
const FOUND = [
  `/rates/historical?symbols=XAU&date=2024-05-08&${AS_OF}`,
  `/rates/time-series?symbols=XAU&${RANGE}&${AS_OF}`,
  `/rates/fluctuation?symbols=XAU&${RANGE}&${AS_OF}`,
  `/rates/history?symbols=XAU&${RANGE}&interval=year&${AS_OF}`,
  `/rates/historical?symbols=XAU&date=2024-05-08&quote=EUR&${AS_OF}`,
  '/rates/revisions?symbols=XAU&date=2024-05-08',
  `/rates/revisions?symbols=XAU&${RANGE}`,
];

/** Requests that read the ledger and end in a 404. */
const NOT_FOUND = [
  '/rates/historical?symbols=XAU&date=2020-05-08&asOf=2024-05-10',
  `/rates/fluctuation?symbols=XAU&startDate=2020-05-07&endDate=2024-05-08&${AS_OF}`,
  `/rates/historical?symbols=XAU&date=2024-05-08&quote=CHF&${AS_OF}`,
];

onEachEngine('requests that read the ledger', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    const recordedAt = Date.parse('2024-05-09T00:00:00Z');
    await service.publish('XAU', { '2024-05-07': 2300, '2024-05-08': 2310 }, 'test', recordedAt);
    await service.publish('EUR/USD', { '2024-05-07': 1.07, '2024-05-08': 1.08 }, 'ecb', recordedAt);
    await service.publish('EUR/CHF', { '2024-05-14': 0.98 }, 'ecb', recordedAt);
    await service.setPlan({ name: 'one', quota: 1 });
  });

  test('cost one unit when they find data, including HEAD and 304', async () => {
    for (const path of FOUND) {
      const key = await api.service.key();
      const found = await api.ask(path, { key });
      expect(found.status, path).toBe(200);
      expect(await usedBy(api, key), path).toBe(1);
      expect((await api.ask(path, { key, method: 'HEAD' })).status, path).toBe(200);
      expect(await usedBy(api, key), `HEAD ${path}`).toBe(2);
      const headers = { 'if-none-match': found.headers.get('etag')! };
      expect((await api.ask(path, { key, headers })).status, path).toBe(304);
      expect(await usedBy(api, key), `304 ${path}`).toBe(3);
    }
  });

  test('cost one unit when they find nothing', async () => {
    for (const path of NOT_FOUND) {
      const key = await api.service.key();
      expectRefusal(await api.ask(path, { key }), 404, 'no_data');
      await api.ask(path, { key, method: 'HEAD' });
      expect(await usedBy(api, key), path).toBe(2);
    }
  });

  test('cost nothing when a parameter is wrong', async () => {
    const key = await api.service.key();
    for (const [path, status] of [
      ['/rates/historical?symbols=XAU&date=2024-05-08&asOf=nonsense', 400],
      ['/rates/historical?symbols=NOPE&date=2024-05-08&asOf=2024-05-10', 404],
      ['/rates/historical?symbols=XAU&date=2024-05-12&asOf=2024-05-10', 400],
      ['/rates/historical?symbols=XAU&date=2024-05-08&quote=XXX&asOf=2024-05-10', 404],
      ['/rates/revisions?symbols=XAU', 400],
      ['/rates/revisions?symbols=NOPE&date=2024-05-08', 404],
    ] as const) {
      expect((await api.ask(path, { key })).status, path).toBe(status);
    }
    expect(await usedBy(api, key)).toBe(0);
  });

  test('are refused without reading anything when the quota is exhausted', async () => {
    for (const path of [...FOUND, ...NOT_FOUND]) {
      const key = await api.service.key('one');
      await api.ask('/rates/latest?symbols=XAU', { key });
      expectRefusal(await api.ask(path, { key }), 429, 'quota_exhausted');
      expect((await api.ask(path, { key, method: 'HEAD' })).status, path).toBe(429);
      expect(await usedBy(api, key), path).toBe(1);
    }
  });

  test('are refused for free beyond 32 per account, while other accounts are served', async () => {
    const [key, other] = [await api.service.key(), await api.service.key()];
    const many = Array.from({ length: 60 }, () => api.ask(FOUND[3]!, { key }));
    expect((await api.ask(FOUND[0]!, { key: other })).status).toBe(200);
    const replies = await Promise.all(many);
    const refused = replies.filter(({ status }) => status === 429);
    for (const reply of refused) {
      expectRefusal(reply, 429, 'rate_limited');
      expect(reply.headers.get('retry-after')).toBe('1');
    }
    const served = replies.filter(({ status }) => status === 200);
    expect(served.length + refused.length).toBe(60);
    expect(served.length).toBeGreaterThanOrEqual(32);
    expect(await usedBy(api, key)).toBe(served.length);
  });
});

async function usedBy(api: Api, key: string): Promise<unknown> {
  return (await api.ask('/usage', { key })).body.used;
}
