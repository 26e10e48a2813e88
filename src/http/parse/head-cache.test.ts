import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { BoundedCache } from '../../runtime/bounded-cache.ts';
import type { Fault } from '../message/fault.ts';
import { type Head, parseHead } from './head.ts';
import { type CachedFields, type CachedHeads, HeadCache } from './head-cache.ts';

const FIRST_LINES = [
  'GET / HTTP/1.1',
  'GET / HTTP/1.0',
  'GET /a?b=c%20"<>^`{|}~ HTTP/1.1',
  'GET /a#b HTTP/1.1',
  'GET /ä HTTP/1.1',
  'GET //a/b HTTP/1.1',
  'GET http://a/b HTTP/1.1',
  'GET /a\x7f HTTP/1.1',
  'GET /a\n HTTP/1.1',
  'GET /a HTTP/1.1 ',
  'GET /a HTTP/2.0',
  'HEAD / HTTP/1.1',
  'POST / HTTP/1.1',
  'POST / HTTP/1.0',
  'OPTIONS * HTTP/1.1',
  'GET * HTTP/1.1',
  '',
  ' GET / HTTP/1.1',
];

const LINES = [
  'Host: a',
  'host: b',
  'Host: a b',
  'Connection: close',
  'Connection: keep-alive',
  'Content-Length: 0',
  'Content-Length: 5',
  'Content-Length: +5',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: \xa0chunked',
  'Expect: 100-continue',
  'Expect: more',
  'X-Api-Key: \xe4',
  'X-Api-Key: \t b ',
  'X Api: b',
  ' folded: b',
  'bare\rreturn: b',
  'bare: re\rturn',
  'empty:',
];

const anyHead = fc
  .tuple(
    fc.constantFrom(...FIRST_LINES),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant([] as string[]) },
      { weight: 1, arbitrary: fc.constant(['Host: a', `Long: ${'x'.repeat(2_100)}`]) },
      { weight: 6, arbitrary: fc.array(fc.constantFrom(...LINES), { maxLength: 4 }) },
    ),
  )
  .map(([first, lines]) => [first, ...lines].join('\r\n'));

/** The content of a head, or the refusal. */
function contentOf(head: Head | Fault): unknown {
  if ('reason' in head) return { status: head.status, reason: head.reason };
  const { method, url, isHttp10, persists, expectsContinue, framing, headers } = head;
  const values = ['host', 'x-api-key', 'connection', 'content-length', 'expect', 'empty', 'long'].map(
    (name) => headers.get(name),
  );
  return { method, url, isHttp10, persists, expectsContinue, framing, values };
}

test('a cached head equals a parsed one, whatever was cached before with the same lines', () => {
  const heads = new HeadCache();
  const calls = fc.array(fc.tuple(anyHead, fc.constantFrom('parse', 'find')), {
    minLength: 1,
    maxLength: 20,
  });
  fc.assert(
    fc.property(calls, (all) => {
      for (const [text, how] of all) {
        const whole = `${text}\r\n\r\n`;
        const found = how === 'parse' ? heads.parse(whole) : heads.find(Buffer.from(whole, 'latin1'));
        if (found && !('reason' in found)) heads.keep(found);
        if (found) expect(contentOf(found)).toEqual(contentOf(parseHead(text)));
        // A long head, or one after an empty line, is left to `parse`.
        else expect(whole.length > 2_048 || text.startsWith('\r\n') || text === '').toBe(true);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('a head is found only in exactly its own bytes', () => {
  const heads = new HeadCache();
  const text = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n';
  for (let i = 0; i < 3; i++) expect(heads.find(Buffer.from(text))).toBeDefined();
  for (const other of [text.slice(0, -1), `${text}x`, `\r\n${text}`, text + text, `${text}\r\n\r\n`]) {
    expect(heads.find(Buffer.from(other))).toBeUndefined();
  }
});

/** Parses the head of an authenticated client. */
function parseAuthenticated(heads: HeadCache, text: string): Head {
  const head = heads.parse(text);
  if ('reason' in head) throw new Error(head.reason);
  heads.keep(head);
  return head;
}

const headOf = (path: string, lines = 'Host: a\r\n') => `GET ${path} HTTP/1.1\r\n${lines}\r\n`;

test('the head of an authenticated client is cached on its second use, and its header lines for every path', () => {
  const heads = new HeadCache();
  for (let i = 0; i < 2; i++) parseAuthenticated(heads, headOf('/a'));
  expect(heads.parse(headOf('/a'))).toBe(heads.parse(headOf('/a')));
  expect(parseAuthenticated(heads, headOf('/b')).headers).toBe(
    parseAuthenticated(heads, headOf('/c')).headers,
  );
});

test('nothing of a long head is cached', () => {
  const heads = new HeadCache();
  const long = headOf(`/${'x'.repeat(8_000)}`);
  for (let i = 0; i < 3; i++)
    expect(parseAuthenticated(heads, long).headers).not.toBe(parseAuthenticated(heads, long).headers);
});

test('unauthenticated clients evict no customer’s head, however many requests they send', () => {
  const cache: CachedHeads = new BoundedCache({ bytesMax: 1024 * 1024, admitsOnSecondUse: true });
  const heads = new HeadCache(cache);
  for (let i = 0; i < 2; i++) parseAuthenticated(heads, headOf('/mine'));
  const mine = heads.parse(headOf('/mine'));
  for (let i = 0; i < 20_000; i++) {
    for (let time = 0; time < 2; time++) heads.parse(headOf(`/${i}`, `Host: a\r\nX-Api-Key: ${i}\r\n`));
  }
  expect(heads.parse(headOf('/mine'))).toBe(mine);
  expect([cache.size, cache.evictions]).toEqual([1, 0]);
});

test('a head with credentials other than an API key is not cached, even of an authenticated client', () => {
  const cache: CachedHeads = new BoundedCache({ bytesMax: 1024 * 1024, admitsOnSecondUse: true });
  const fields: CachedFields = new BoundedCache({ bytesMax: 1024 * 1024, admitsOnSecondUse: true });
  const heads = new HeadCache(cache, fields);
  for (const line of [
    'Authorization: Bearer secret',
    'Proxy-Authorization: Basic secret',
    'Cookie: session=secret',
  ]) {
    for (let i = 0; i < 3; i++) parseAuthenticated(heads, headOf('/', `Host: a\r\n${line}\r\n`));
  }
  expect([cache.size, fields.size]).toEqual([0, 0]);
});
