import { describe, expect, test } from 'bun:test';
import { keyForPage } from '../../../src/api/site/page-key.ts';
import { VERSION } from '../../../src/runtime/version.ts';
import { apiOn, expectRefusal } from '../../support/api.ts';

describe('the page', () => {
  const api = apiOn('sqlite');

  test('is public HTML at /, with a policy that allows only its own files', async () => {
    const { status, text, headers } = await api.ask('/', { key: '' });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    const policy = headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("style-src 'self';");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).not.toContain('unsafe');
    expect(text).not.toMatch(/<style|<script(?![^>]*src=)|style="|https?:/);
  });

  test('its files are immutable, compressed and typed; a missing one is 404', async () => {
    const { text } = await api.ask('/', { key: '' });
    const paths = [...text.matchAll(/"(\/console\/assets\/[^"]+)"/g)].map(([, path]) => path!);
    expect(paths.length).toBeGreaterThanOrEqual(3);
    for (const path of paths) {
      const { status, headers } = await api.ask(path, { key: '' });
      expect(status, path).toBe(200);
      expect(headers.get('cache-control')).toContain('immutable');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
    expectRefusal(await api.ask('/console/assets/chunk-0.js', { key: '' }), 404, 'not_found');
  });

  test('its files come in the best encoding that the browser accepts, and are the same in each', async () => {
    const { text } = await api.ask('/', { key: '' });
    const script = /"(\/console\/assets\/[^"]+\.js)"/.exec(text)![1]!;
    const inEncoding = async (accepted: string) => {
      const { headers, text: decoded } = await api.ask(script, {
        key: '',
        headers: { 'accept-encoding': accepted },
      });
      expect(headers.get('vary')).toBe('Accept-Encoding');
      return { encoding: headers.get('content-encoding'), decoded };
    };
    const plain = await inEncoding('identity');
    expect(plain.encoding).toBeNull();
    expect(await inEncoding('gzip, deflate, br')).toEqual({ ...plain, encoding: 'br' });
    expect(await inEncoding('gzip, br;q=0')).toEqual({ ...plain, encoding: 'gzip' });
  });

  test('an unchanged page is 304 in every encoding, and other methods are refused', async () => {
    const get = (headers: Record<string, string>) => api.ask('/', { key: '', headers });
    const encodings = ['identity', 'gzip', 'br'].map((encoding) => ({ 'accept-encoding': encoding }));
    const tags = await Promise.all(encodings.map(async (one) => (await get(one)).headers.get('etag')!));
    expect(new Set(tags).size).toBe(3);
    for (const encoding of encodings) {
      for (const tag of tags) {
        const { status, headers } = await get({ ...encoding, 'if-none-match': tag });
        expect([status, headers.get('etag')]).toEqual([304, tag]);
      }
    }
    expectRefusal(await api.ask('/', { method: 'POST' }), 405, 'method_not_allowed');
  });

  test('an unknown path is still refused in JSON', async () => {
    for (const path of ['/markets', '/index.html', '/v1', '/console', '/docs', '/admin']) {
      expectRefusal(await api.ask(path), 404, 'not_found');
    }
    expect((await api.ask('/docs')).body.message).toContain('/docs/reference');
  });

  test('without demo data and a public plan nobody receives a key', async () => {
    const { body, headers } = await api.ask('/console/config', {
      key: '',
      headers: { 'sec-fetch-site': 'same-origin' },
    });
    expect(body).toEqual({
      version: VERSION,
      command: 'npx openpit',
      simulated: false,
      closed: expect.any(Boolean),
      admin: false,
    });
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('the earlier address of the API reference leads to it', async () => {
    const { status, headers } = await fetch(`${api.service.url}/docs/reference`, { redirect: 'manual' });
    expect(status).toBe(302);
    expect(headers.get('location')).toBe('/#/docs/reference');
  });
});

describe('the demo key', () => {
  const keys = { demoKey: 'the demo key', publicKey: undefined };
  const given = (headers: Record<string, string>, peer = '127.0.0.1', allSimulated = true) =>
    keyForPage(keys, allSimulated, new Request('http://x/console/config', { headers }), peer)?.key;
  const own = { host: '127.0.0.1:8080', 'sec-fetch-site': 'same-origin' };

  test('is given to a page open in a browser on this machine', () => {
    expect(given(own)).toBe('the demo key');
    expect(given({ ...own, host: 'localhost:8080' })).toBe('the demo key');
    expect(given({ ...own, host: '[::1]:8080' }, '::1')).toBe('the demo key');
    expect(given(own, '::ffff:127.0.0.1')).toBe('the demo key');
  });

  test.each([
    ['another machine', own, '192.0.2.7'],
    ['a proxy', { ...own, 'x-forwarded-for': '192.0.2.7' }, '127.0.0.1'],
    ['a proxy that says Forwarded', { ...own, forwarded: 'for=192.0.2.7' }, '127.0.0.1'],
    ['a proxy that says Via', { ...own, via: '1.1 proxy' }, '127.0.0.1'],
    ['a proxy that says X-Real-IP', { ...own, 'x-real-ip': '192.0.2.7' }, '127.0.0.1'],
    ['another site', { ...own, 'sec-fetch-site': 'cross-site' }, '127.0.0.1'],
    ['a neighbour on another port', { ...own, 'sec-fetch-site': 'same-site' }, '127.0.0.1'],
    ['a name that was made to point here', { ...own, host: 'evil.example:8080' }, '127.0.0.1'],
    ['a name that looks like an address', { ...own, host: '127.0.0.1.evil.example' }, '127.0.0.1'],
    ['a client that is no browser', { host: '127.0.0.1:8080' }, '127.0.0.1'],
  ])('is not for %s', (_, headers, peer) => {
    expect(given(headers as Record<string, string>, peer)).toBeUndefined();
  });

  test('is given to nobody once there is a real price', () => {
    expect(given(own, '127.0.0.1', false)).toBeUndefined();
  });
});

describe('the demo key of a running demo', () => {
  const api = apiOn('sqlite', { settings: { OPENPIT_DEMO: 'true' } });
  const isGiven = async () => {
    const headers = { 'sec-fetch-site': 'same-origin' };
    return 'given' in (await api.ask('/console/config', { key: '', headers })).body;
  };

  test('is given to the page until the first real bar or tick of a symbol or a currency', async () => {
    const { service } = api;
    await service.publish('XAU', { '2024-05-14': 2358 }, 'simulated');
    expect(await isGiven()).toBe(true);
    await service.tick('XAG', 28.5);
    expect(await isGiven()).toBe(false);
  });
});

describe('the demo key of a demo with a real exchange rate', () => {
  const api = apiOn('sqlite', { settings: { OPENPIT_DEMO: 'true' } });

  test('is not given to the page', async () => {
    await api.service.publish('EUR/USD', { '2024-05-14': 1.08 });
    const headers = { 'sec-fetch-site': 'same-origin' };
    expect((await api.ask('/console/config', { key: '', headers })).body).not.toHaveProperty('given');
  });
});
