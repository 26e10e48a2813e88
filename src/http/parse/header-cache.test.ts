import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { anyHead, contentOf } from '../../../test/support/http/heads.ts';
import { BoundedCache } from '../../runtime/bounded-cache.ts';
import { type Head, parseHead } from './head.ts';
import { type CachedFields, HeaderCache } from './header-cache.ts';

test('a head with cached header lines equals a parsed one, whatever was cached before', () => {
  const headers = new HeaderCache();
  fc.assert(
    fc.property(fc.array(anyHead, { minLength: 1, maxLength: 20 }), (all) => {
      for (const text of all) {
        const head = headers.parse(text);
        expect(contentOf(head)).toEqual(contentOf(parseHead(text)));
        if (!('reason' in head)) headers.keep(head);
      }
    }),
    { numRuns: 2_000 },
  );
});

/** Parses the head of an authenticated client. */
function parseAuthenticated(headers: HeaderCache, text: string): Head {
  const head = headers.parse(text);
  if ('reason' in head) throw new Error(head.reason);
  headers.keep(head);
  return head;
}

const headOf = (path: string, lines = 'Host: a') => `GET ${path} HTTP/1.1\r\n${lines}`;

const newCache = (): CachedFields => new BoundedCache({ bytesMax: 1024 * 1024, admitsOnSecondUse: true });

test('header lines of authenticated clients are cached on their second use, for every path', () => {
  const headers = new HeaderCache();
  for (let i = 0; i < 2; i++) parseAuthenticated(headers, headOf('/a'));
  expect(parseAuthenticated(headers, headOf('/b')).fields).toBe(
    parseAuthenticated(headers, headOf('/c')).fields,
  );
});

test('customers who run the same program share one entry, wherever their key stands, and each has its own key', () => {
  const fields = newCache();
  const headers = new HeaderCache('x-api-key', fields);
  for (let i = 0; i < 500; i++) {
    for (const lines of [
      `X-API-Key: key${i}\r\nHost: a\r\nAccept: */*`,
      `Host: a\r\nx-api-key:key${i} \r\nAccept: */*`,
      `Host: a\r\nAccept: */*\r\nX-Api-Key: key${i}`,
    ]) {
      const head = parseAuthenticated(headers, headOf('/', lines));
      expect([head.headers.get('x-api-key'), head.headers.get('accept')]).toEqual([`key${i}`, '*/*']);
      expect([head.headers.has('x-api-key'), head.headers.has('host')]).toEqual([true, true]);
    }
  }
  expect([fields.size, fields.evictions]).toEqual([1, 0]);
});

test('a key that is sent twice is two values, as for any other header', () => {
  const headers = new HeaderCache();
  for (let i = 0; i < 3; i++) {
    const head = parseAuthenticated(headers, headOf('/', 'Host: a\r\nX-Api-Key: b\r\nx-api-key: c'));
    expect(head.headers.get('x-api-key')).toBe('b, c');
  }
});

test('the limit of 100 headers includes the key, wherever it stands and whatever was sent before', () => {
  const headers = new HeaderCache();
  const lines = (count: number) => ['Host: a', ...Array.from({ length: count - 2 }, () => 'A: b')];
  for (const at of [0, 50, 99]) {
    const [allowed, tooMany] = [100, 101].map((count) =>
      headOf('/', lines(count).toSpliced(at, 0, 'X-Api-Key: c').join('\r\n')),
    ) as [string, string];
    parseAuthenticated(headers, allowed);
    for (const head of [headers.parse(tooMany), parseHead(tooMany)])
      expect(head).toMatchObject({ status: 431 });
  }
});

test('nothing of a long head is cached', () => {
  const headers = new HeaderCache();
  const long = headOf(`/${'x'.repeat(8_000)}`);
  for (let i = 0; i < 3; i++)
    expect(parseAuthenticated(headers, long).fields).not.toBe(parseAuthenticated(headers, long).fields);
});

test('unauthenticated clients evict no customer’s lines, however many requests they send', () => {
  const fields = newCache();
  const headers = new HeaderCache('x-api-key', fields);
  for (let i = 0; i < 2; i++) parseAuthenticated(headers, headOf('/mine'));
  for (let i = 0; i < 20_000; i++) {
    for (let time = 0; time < 2; time++) headers.parse(headOf(`/${i}`, `Host: a\r\nA: ${i}`));
  }
  expect([fields.size, fields.evictions]).toEqual([1, 0]);
});

test('a head with credentials other than an API key is not cached, even of an authenticated client', () => {
  const fields = newCache();
  const headers = new HeaderCache('x-api-key', fields);
  for (const line of [
    'Authorization: Bearer secret',
    'Proxy-Authorization: Basic secret',
    'Cookie: session=secret',
  ]) {
    for (let i = 0; i < 3; i++) parseAuthenticated(headers, headOf('/', `Host: a\r\n${line}`));
  }
  expect(fields.size).toBe(0);
});

test('a key in a header of another name, or sent twice, is not cached, even of an authenticated client', () => {
  const fields = newCache();
  const headers = new HeaderCache('x-api-key', fields, ['apikey']);
  for (const line of ['ApiKey: secret', 'X-Api-Key: secret\r\nX-Api-Key: secret']) {
    for (let i = 0; i < 3; i++) parseAuthenticated(headers, headOf('/', `Host: a\r\n${line}`));
  }
  expect(fields.size).toBe(0);
});
