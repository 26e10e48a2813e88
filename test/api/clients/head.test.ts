import { expect, test } from 'bun:test';
import { apiOn } from '../../support/api.ts';
import { onBunServe } from '../../support/http-server.ts';
import { onEachEngine } from '../../support/ledger.ts';

/** Headers that differ between two responses to the same request. */
const OWN = ['x-request-id', 'date', 'ratelimit', ...(onBunServe ? ['transfer-encoding'] : [])];

/** Headers that HEAD omits for responses that cost a unit, because they reveal the length of the body (test/security/oracles.test.ts). */
const LENGTH = ['content-length', 'content-encoding', 'etag'];

onEachEngine('HEAD', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 2358.2 });
  });

  for (const path of [
    '/symbols',
    '/rates/latest?symbols=XAU',
    '/v1/rates/historical?symbols=XAU&date=2024-05-14',
    '/usage',
    '/health',
    '/rates/latest?symbols=NOPE',
    '/rates/latest',
    '/nowhere',
  ]) {
    test(`${path} answers as GET does, without a body`, async () => {
      const get = await api.ask(path);
      const head = await api.ask(path, { method: 'HEAD' });
      expect(head.status).toBe(get.status);
      expect(head.text).toBe('');
      const costs = get.status === 200 && !['/usage', '/health'].includes(path);
      const left = costs ? [...OWN, ...LENGTH] : OWN;
      const headersOf = (headers: Headers) => [...headers].filter(([name]) => !left.includes(name)).sort();
      expect(headersOf(head.headers)).toEqual(headersOf(get.headers));
    });
  }

  test('it has the tag of the uncompressed response', async () => {
    const get = await api.ask('/symbols', { headers: { 'accept-encoding': 'identity' } });
    const head = await api.ask('/symbols', { method: 'HEAD' });
    expect(head.headers.get('etag')).toBe(get.headers.get('etag'));
  });

  test('it is not counted', async () => {
    const key = await api.service.key('basic');
    await api.ask('/symbols', { key, method: 'HEAD' });
    expect((await api.ask('/usage', { key })).body.used).toBe(0);
  });
});
