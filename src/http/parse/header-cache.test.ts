import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { BoundedCache } from '../../runtime/bounded-cache.ts';
import type { Fault } from '../message/fault.ts';
import { type Head, parseHead } from './head.ts';
import { type CachedFields, HeaderCache } from './header-cache.ts';

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

test('a head with cached header lines equals a parsed one, whatever was cached before', () => {
  const headers = new HeaderCache();
  fc.assert(
    fc.property(fc.array(anyHead, { minLength: 1, maxLength: 20 }), (all) => {
      let previous: Head | undefined;
      for (const text of all) {
        const expected = contentOf(parseHead(text));
        const head = headers.parse(text);
        expect(contentOf(head)).toEqual(expected);
        expect(contentOf(headers.parse(text, previous))).toEqual(expected);
        if ('reason' in head) continue;
        headers.keep(head);
        previous = head;
      }
    }),
    { numRuns: 2_000 },
  );
});

/** Values of the key, and what others could understand as more than a value. */
const KEY_VALUES = [
  '',
  ' ',
  ' b',
  '\tlonger ',
  '\xa0',
  ' \0',
  ' b\rc',
  ' b\nContent-Length: 5',
  ' b\r\n folded',
];
const MORE_LINES = [
  '\r\nX-Api-Key: c',
  '\r\nContent-Length: 5',
  '\r\nTransfer-Encoding: chunked',
  '\r\nCookie: c',
];

/** A head like the one before it, but for its first line and the value of its key, or a line more. */
const anyChange = fc.record({
  first: fc.constantFrom(undefined, ...FIRST_LINES),
  value: fc.constantFrom(...KEY_VALUES, ...MORE_LINES.map((line) => ` b${line}`)),
  more: fc.constantFrom('', '', ...MORE_LINES),
});

test('a head that resembles the previous one of its connection equals one that is parsed alone', () => {
  let shared = 0;
  fc.assert(
    fc.property(anyHead, fc.array(anyChange, { minLength: 1, maxLength: 10 }), (start, changes) => {
      const headers = new HeaderCache();
      let [text, previous] = [`${start}\r\nX-Api-Key: a\r\nHost: a`, undefined as Head | undefined];
      for (const { first, value, more } of changes) {
        const lineEnd = text.indexOf('\r\n');
        const lines = text.slice(lineEnd).replace(/(x-api-key:)[^\r\n]*/i, (_, name) => `${name}${value}`);
        const next = `${first ?? text.slice(0, lineEnd)}${lines}${more}`;
        const head = headers.parse(next, previous);
        expect(contentOf(head)).toEqual(contentOf(parseHead(next)));
        if ('reason' in head) continue;
        if (head.fields === previous?.fields) shared++;
        [text, previous] = [next, head];
      }
    }),
    { numRuns: 2_000 },
  );
  expect(shared).toBeGreaterThan(100);
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

test('a head with the header lines of the previous one shares them, whoever sends it, and its path too if that is the same', () => {
  const headers = new HeaderCache();
  for (const [before, after] of [
    ['Host: a\r\nX-Api-Key: ', '\r\nAccept: */*'],
    ['Host: a\r\nX-Api-Key: ', ''],
  ]) {
    const of = (path: string, key: string, previous?: Head) =>
      headers.parse(headOf(path, `${before}${key}${after}`), previous) as Head;
    const first = of('/a', 'b');
    const second = of('/a', 'longer', first);
    const third = of('/c', '', second);
    expect([second, third].map(({ url, headers }) => [url, headers.get('x-api-key')])).toEqual([
      ['/a', 'longer'],
      ['/c', ''],
    ]);
    expect(second.fields).toBe(first.fields);
    expect(third.fields).toBe(first.fields);
  }
  const withoutKey = headers.parse(headOf('/a')) as Head;
  expect((headers.parse(headOf('/b'), withoutKey) as Head).fields).toBe(withoutKey.fields);
});

test('a header between the lines of the previous head is read', () => {
  const headers = new HeaderCache();
  const previous = headers.parse(headOf('/', 'Host: a\r\nX-Api-Key: b\r\nAccept: */*')) as Head;
  const longer = 'Host: a\r\nX-Api-Key: b\r\nTransfer-Encoding: chunked\r\nAccept: */*';
  expect((headers.parse(headOf('/', longer), previous) as Head).framing).toEqual({ kind: 'chunked' });
  const folded = 'Host: a\r\nX-Api-Key: b\nContent-Length: 5\r\nAccept: */*';
  expect(headers.parse(headOf('/', folded), previous)).toMatchObject({ status: 400 });
});

test('the limit of 100 headers includes the key, wherever it stands and whatever was sent before', () => {
  const headers = new HeaderCache();
  const lines = (count: number) => ['Host: a', ...Array.from({ length: count - 2 }, () => 'A: b')];
  for (const at of [0, 50, 99]) {
    const [allowed, tooMany] = [100, 101].map((count) =>
      headOf('/', lines(count).toSpliced(at, 0, 'X-Api-Key: c').join('\r\n')),
    ) as [string, string];
    const previous = parseAuthenticated(headers, allowed);
    for (const head of [headers.parse(tooMany), headers.parse(tooMany, previous), parseHead(tooMany)])
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
