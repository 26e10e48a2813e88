import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { apiOn, type Reply } from '../../support/api.ts';
import { sendRaw } from '../../support/http/raw.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { REFUSAL_SHAPE, SUCCESS_SHAPES, USAGE_REFUSAL_SHAPE } from '../../support/responses/shapes.ts';

const PATHS = [
  '/symbols',
  '/usage',
  ...['latest', 'historical', 'time-series', 'fluctuation', 'history', 'revisions'].map((n) => `/rates/${n}`),
];
const NAMES = [
  'symbols',
  'date',
  'startDate',
  'endDate',
  'metadata',
  'quote',
  'unit',
  'asOf',
  'interval',
  'cursor',
  'format',
  'apiKey',
  'symbols[]',
  'base',
  '',
  '__proto__',
];

/** Values that have broken services before. */
const NASTY = [
  '',
  ' ',
  ',',
  ',,,',
  'null',
  'undefined',
  'NaN',
  '-1',
  '1e309',
  '0x41',
  'true',
  '[]',
  '{}',
  '*',
  '%',
  '%00',
  '\u0000',
  '\r\nX-Injected: 1',
  '\ud800',
  '￿',
  '🛢️',
  'ﬀ',
  'ı',
  'ß',
  '../../etc/passwd',
  "' OR 1=1 --",
  '"; DROP TABLE bar; --',
  '<script>',
  '#{7*7}',
  '2024-02-30',
  '0000-00-00',
  '9999-99-99',
  '2024-05-14',
  '2024-05-15',
  '2024-05-16',
  '2199-12-31',
  '1900-01-01',
  'EUR',
  'USX',
  'kg',
  'month',
  'csv',
  'ndjson',
  '2024-05-14T10:00:00Z',
  'MTk4NTcgMCBhYmM',
  'XAU',
  'xau,XAG',
  'XAU,NOPE',
  'GOLD',
  'A'.repeat(3000),
  'XAU,'.repeat(500),
  '١٢٣٤-٠٥-١٤',
];
const value = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...NASTY) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
  { weight: 1, arbitrary: fc.date({ noInvalidDate: true }).map((d) => d.toISOString().slice(0, 10)) },
  { weight: 2, arbitrary: fc.constantFrom('XAU', 'XAU,XAG', '2024-05-14', '2024-05-13', 'false') },
);
/** Sent raw, escaped, or half escaped. */
const encoded = fc.tuple(value, fc.constantFrom('all', 'all', 'none', 'half')).map(([text, how]) => {
  const whole = text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80';
  if (how === 'none')
    return Array.from(text)
      .filter((c) => /[!-~]/.test(c) && c !== '#')
      .join('');
  return how === 'all' ? whole : whole.slice(0, -1);
});
const pair = fc.tuple(fc.constantFrom(...NAMES), encoded).map(([name, text]) => `${name}=${text}`);
const query = fc.array(pair, { maxLength: 6 }).map((pairs) => pairs.join('&'));
const target = fc
  .tuple(fc.constantFrom('', '/v1', '/v2', '/v3'), fc.constantFrom(...PATHS), fc.constantFrom('', '/'), query)
  .map(([mount, path, slash, text]) => `${mount}${path}${slash}?${text}`);

/** A body is the endpoint's success or a refusal whose envelope has the same status, and never a 500. */
function expectEnvelope(
  path: string,
  { status, text, headers }: Pick<Reply, 'status' | 'text' | 'headers'>,
): void {
  if (status === 200 && !headers.get('content-type')!.startsWith('application/json')) {
    expect(headers.get('content-type')).toMatch(/^(text\/csv|application\/x-ndjson); charset=utf-8$/);
    return;
  }
  const body = JSON.parse(text);
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(status).toBeLessThan(500);
  const name = /([a-z-]+)\/?(\?|$)/.exec(path)?.[1] ?? '';
  const refusal = name === 'usage' ? USAGE_REFUSAL_SHAPE : REFUSAL_SHAPE;
  const isSuccess = status === 200 || status === 206;
  const shape = isSuccess ? SUCCESS_SHAPES[name]! : refusal;
  expect(shape.safeParse(body).error, path).toBeUndefined();
  if (!isSuccess && name !== 'usage') expect(body.statusCode).toBe(String(status));
}

onEachEngine('fuzz', (engine) => {
  const api = apiOn(
    engine,
    { settings: { OPENPIT_FAILED_KEYS_PER_MINUTE: '1000000' } },
    async ({ service }) => {
      await service.publish('XAU', { '2024-05-13': 2336, '2024-05-14': 2358 });
      await service.publish('EUR/USD', { '2024-05-13': 1.07, '2024-05-14': 1.08 }, 'ecb');
      await service.publish('XAG', { '2024-05-13': 28.2, '2024-05-14': 28.5 });
    },
  );

  test('success and both kinds of refusal have the shapes that the other tests compare with', async () => {
    const statuses = [];
    for (const path of [
      '/rates/latest?symbols=XAU',
      '/rates/latest?symbols=',
      '/rates/latest?symbols=NOPE',
    ]) {
      const reply = await api.ask(path);
      expectEnvelope(path, reply);
      statuses.push(reply.status);
    }
    expect(statuses).toEqual([200, 400, 404]);
  });

  test('any parameters, in any form and number, get the right shape and never a 500', async () => {
    const property = fc.asyncProperty(target, async (path) => {
      const reply = await api.ask(path);
      expectEnvelope(path, reply);
      expect(reply.headers.get('x-injected')).toBeNull();
    });
    await fc.assert(property, { numRuns: 400 });
  });

  test('one wrong parameter among right ones gets the right shape and never a 500', async () => {
    const right = { symbols: 'XAU', date: '2024-05-14', startDate: '2024-05-13', endDate: '2024-05-14' };
    const property = fc.asyncProperty(
      fc.constantFrom(...PATHS),
      fc.constantFrom(...NAMES.slice(0, 11)),
      encoded,
      async (path, name, text) => {
        const others = new URLSearchParams({ ...right, [name]: 'x' });
        others.delete(name);
        const whole = `${path}?${others}&${name}=${text}`;
        expectEnvelope(whole, await api.ask(whole));
      },
    );
    await fc.assert(property, { numRuns: 250 });
  });

  test('any key, in the header or in the URL, is refused or admitted and never a 500', async () => {
    const property = fc.asyncProperty(encoded, fc.constantFrom(...PATHS), async (text, path) => {
      expectEnvelope(path, await api.ask(`${path}?apiKey=${text}`, { key: '' }));
      const header = text.replaceAll('%', '').slice(0, 500);
      const reply = await api.ask(path, { key: `pit_live_${header}` });
      expect(reply.status).toBe(401);
      expectEnvelope(path, reply);
    });
    await fc.assert(property, { numRuns: 100 });
  });

  test('any path is found or refused with a hint, and never a 500', async () => {
    const part = fc.oneof(
      encoded,
      fc.constantFrom('rates', 'latest', 'v1', 'v2', 'symbols', '..', '.', '2024-05-14'),
    );
    const property = fc.asyncProperty(fc.array(part, { maxLength: 4 }), async (parts) => {
      const path = `/${parts.join('/')}`.replaceAll('?', '');
      const reply = await api.ask(path);
      expect(reply.status, path).toBeLessThan(500);
      if (reply.status !== 404) return;
      expect(REFUSAL_SHAPE.safeParse(reply.body).error, path).toBeUndefined();
    });
    await fc.assert(property, { numRuns: 150 });
  });

  test('any bytes after the path get a status line, from the parser or with our envelope', async () => {
    const bytes = fc.string({ unit: 'binary', maxLength: 60 }).map((text) => text.replace(/[\r\n]/g, ''));
    const property = fc.asyncProperty(fc.constantFrom(...PATHS), bytes, async (path, text) => {
      const head = `GET ${path}?${text} HTTP/1.1\r\nHost: test\r\nConnection: close\r\nx-api-key: ${api.key}\r\n\r\n`;
      const reply = await sendRaw(api.service.url, head);
      expect(reply).toMatch(/^HTTP\/1\.1 (200|400|404|414|505) /);
      const body = reply.slice(reply.indexOf('\r\n\r\n') + 4);
      expect(body === '' || body.startsWith('{"success":')).toBe(true);
    });
    await fc.assert(property, { numRuns: 100 });
  });

  test('none of this was logged as a failure', () => {
    expect(api.service.logLines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});
