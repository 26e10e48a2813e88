import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { BoundedCache } from '../../runtime/bounded-cache.ts';
import type { Fault } from '../message/fault.ts';
import { type Head, readHead } from './head.ts';
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

/** All that a head says, or that it says nothing. */
function told(head: Head | Fault): unknown {
  if ('why' in head) return { status: head.status, why: head.why };
  const { method, url, isHttp10, persists, expectsContinue, framing, headers } = head;
  const values = ['host', 'x-api-key', 'connection', 'content-length', 'expect', 'empty', 'long'].map(
    (name) => headers.get(name),
  );
  return { method, url, isHttp10, persists, expectsContinue, framing, values };
}

test('a head is read as if it were the first, whatever came before under the same lines', () => {
  const heads = new HeadCache();
  const asked = fc.array(fc.tuple(anyHead, fc.constantFrom('read', 'find')), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(asked, (all) => {
      for (const [text, how] of all) {
        const whole = `${text}\r\n\r\n`;
        const found = how === 'read' ? heads.read(whole) : heads.find(Buffer.from(whole, 'latin1'));
        if (found && !('why' in found)) heads.keep(found);
        if (found) expect(told(found)).toEqual(told(readHead(text)));
        // What is not found is read by another way: because it is long, or begins with an empty line.
        else expect(whole.length > 2_048 || text.startsWith('\r\n') || text === '').toBe(true);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('a head is found in its own bytes alone, not in more or less of them', () => {
  const heads = new HeadCache();
  const text = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n';
  for (let i = 0; i < 3; i++) expect(heads.find(Buffer.from(text))).toBeDefined();
  for (const other of [text.slice(0, -1), `${text}x`, `\r\n${text}`, text + text, `${text}\r\n\r\n`]) {
    expect(heads.find(Buffer.from(other))).toBeUndefined();
  }
});

/** Reads a head that was asked for by somebody the handler knows. */
function ofCustomer(heads: HeadCache, text: string): Head {
  const head = heads.read(text);
  if ('why' in head) throw new Error(head.why);
  heads.keep(head);
  return head;
}

const headOf = (path: string, lines = 'Host: a\r\n') => `GET ${path} HTTP/1.1\r\n${lines}\r\n`;

test('the head of a customer is cached from its second time on, and its lines under any path', () => {
  const heads = new HeadCache();
  for (let i = 0; i < 2; i++) ofCustomer(heads, headOf('/a'));
  expect(heads.read(headOf('/a'))).toBe(heads.read(headOf('/a')));
  expect(ofCustomer(heads, headOf('/b')).headers).toBe(ofCustomer(heads, headOf('/c')).headers);
});

test('nothing of a long head is cached', () => {
  const heads = new HeadCache();
  const long = headOf(`/${'x'.repeat(8_000)}`);
  for (let i = 0; i < 3; i++)
    expect(ofCustomer(heads, long).headers).not.toBe(ofCustomer(heads, long).headers);
});

test('strangers evict no customer’s head, however many they send and however often', () => {
  const cache: CachedHeads = new BoundedCache({ bytesMax: 1024 * 1024, admitsOnSecondUse: true });
  const heads = new HeadCache(cache);
  for (let i = 0; i < 2; i++) ofCustomer(heads, headOf('/mine'));
  const mine = heads.read(headOf('/mine'));
  for (let i = 0; i < 20_000; i++) {
    for (let time = 0; time < 2; time++) heads.read(headOf(`/${i}`, `Host: a\r\nX-Api-Key: ${i}\r\n`));
  }
  expect(heads.read(headOf('/mine'))).toBe(mine);
  expect([cache.size, cache.evictions]).toEqual([1, 0]);
});

test('a head with credentials of another kind is not cached, whoever sends it', () => {
  const cache: CachedHeads = new BoundedCache({ bytesMax: 1024 * 1024, admitsOnSecondUse: true });
  const fields: CachedFields = new BoundedCache({ bytesMax: 1024 * 1024, admitsOnSecondUse: true });
  const heads = new HeadCache(cache, fields);
  for (const line of [
    'Authorization: Bearer secret',
    'Proxy-Authorization: Basic secret',
    'Cookie: session=secret',
  ]) {
    for (let i = 0; i < 3; i++) ofCustomer(heads, headOf('/', `Host: a\r\n${line}\r\n`));
  }
  expect([cache.size, fields.size]).toEqual([0, 0]);
});
