import { expect, test } from 'bun:test';
import { apiOn } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

const DAY = '/rates/historical?symbols=XAU&date=2024-05-14';

onEachEngine('304', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 2358.2 });
  });
  const askWith = (path: string, tag: string, rest: Record<string, string> = {}) =>
    api.ask(path, { headers: { 'if-none-match': tag, ...rest } });
  const tagOf = async (path: string) => (await api.ask(path)).headers.get('etag')!;

  for (const path of [
    '/symbols',
    '/rates/latest?symbols=XAU',
    DAY,
    '/rates/time-series?symbols=XAU&startDate=2024-05-14&endDate=2024-05-15',
    '/rates/fluctuation?symbols=XAU&startDate=2024-05-14&endDate=2024-05-15',
  ]) {
    test(`${path} answers its own tag with 304, no body and the same caching headers`, async () => {
      const full = await api.ask(path);
      const { status, text, headers } = await askWith(path, full.headers.get('etag')!);
      expect({ status, text }).toEqual({ status: 304, text: '' });
      for (const name of ['etag', 'cache-control', 'vary', 'access-control-allow-origin']) {
        expect(headers.get(name), name).toBe(full.headers.get(name)!);
      }
    });
  }

  test('the tag may be in a list, weak, or a star', async () => {
    const tag = await tagOf(DAY);
    for (const header of [`"a", ${tag}`, `${tag},"b"`, `W/${tag}`, '*', ` ${tag} `]) {
      expect((await askWith(DAY, header)).status, header).toBe(304);
    }
  });

  test('another tag, part of the tag, or none gets the full response', async () => {
    const tag = await tagOf(DAY);
    for (const header of ['"a"', '"a", "b"', `${tag.slice(0, -2)}"`, '""', 'W/""']) {
      expect((await askWith(DAY, header)).status, header).toBe(200);
    }
  });

  test('HEAD answers a known tag with 304 too', async () => {
    const headers = { 'if-none-match': await tagOf(DAY) };
    expect((await api.ask(DAY, { method: 'HEAD', headers })).status).toBe(304);
  });

  test('an error is not hidden behind a star', async () => {
    expect((await askWith('/rates/latest?symbols=NOPE', '*')).status).toBe(404);
    expect((await askWith('/rates/latest', '*')).status).toBe(400);
  });

  test('a 304 has the rate-limit headers and is free', async () => {
    const key = await api.service.key('basic');
    const headers = { 'if-none-match': '*' };
    const reply = await api.ask(DAY, { key, headers });
    expect(reply.status).toBe(304);
    expect(reply.headers.get('ratelimit')).toStartWith('"month";r=10000;');
    expect((await api.ask('/usage', { key })).body.used).toBe(0);
  });
});
