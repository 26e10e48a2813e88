import { expect, test } from 'bun:test';
import { apiOn } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

const PREFLIGHT = {
  origin: 'https://app.example',
  'access-control-request-method': 'GET',
  'access-control-request-headers': 'x-api-key',
};

onEachEngine('CORS', (engine) => {
  const api = apiOn(engine);

  test('a preflight needs no key, allows x-api-key from any origin, and may be cached for a day', async () => {
    for (const path of ['/symbols', '/v1/rates/latest', '/rates/historical/', '/v2/usage']) {
      const { status, text, headers } = await api.ask(path, {
        key: '',
        method: 'OPTIONS',
        headers: PREFLIGHT,
      });
      expect({ status, text }).toEqual({ status: 204, text: '' });
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('access-control-allow-headers')!.split(', ')).toContain('x-api-key');
      expect(headers.get('access-control-allow-methods')!.split(', ')).toContain('GET');
      expect(headers.get('access-control-max-age')).toBe('86400');
    }
  });

  test('a preflight succeeds for every path and method that could be refused, so that a page can read the error', async () => {
    const paths = ['/nowhere', '/v2/latest', '/v9/rates/latest', '//', `/symbols?x=${'y'.repeat(9000)}`];
    for (const path of ['/rates/latest', ...paths]) {
      const { status, headers } = await api.ask(path, { key: '', method: 'OPTIONS', headers: PREFLIGHT });
      expect(status, path).toBe(204);
      expect(headers.get('access-control-allow-origin')).toBe('*');
      for (const method of ['POST', 'PUT', 'DELETE']) {
        expect(headers.get('access-control-allow-methods')!.split(', '), path).toContain(method);
      }
      const allowed = headers.get('access-control-allow-headers')!.split(', ');
      for (const name of ['Authorization', 'Cache-Control', 'X-Requested-With', 'If-None-Match', '*']) {
        expect(allowed, path).toContain(name);
      }
    }
  });

  test('every response, errors and 304 included, is readable from any origin, with its useful headers', async () => {
    const replies = [
      await api.ask('/symbols'),
      await api.ask('/symbols', { headers: { 'if-none-match': '*' } }),
      await api.ask('/usage'),
      await api.ask('/rates/latest'),
      await api.ask('/symbols', { key: '' }),
      await api.ask('/nowhere'),
      await api.ask('/symbols', { method: 'POST' }),
      await api.ask(`/symbols?x=${'y'.repeat(9000)}`),
    ];
    expect(replies.map((reply) => reply.status)).toEqual([200, 304, 200, 400, 401, 404, 405, 414]);
    for (const { headers, status } of replies) {
      expect(headers.get('access-control-allow-origin'), String(status)).toBe('*');
      const exposed = headers.get('access-control-expose-headers')!.split(', ');
      for (const name of ['ETag', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Request-Id']) {
        expect(exposed).toContain(name);
      }
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });
});
