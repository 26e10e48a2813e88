import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { contentOf, FIRST_LINES } from '../../../test/support/http/heads.ts';
import { type Head, parseHead } from './head.ts';
import { HeaderCache } from './header-cache.ts';
import { KnownHead } from './known-head.ts';

/** Values of the key, and what others could understand as more than a value. Those of one letter are as long as the first. */
const KEY_VALUES = [
  'b',
  'c',
  '\t',
  ' ',
  '#',
  '\xa0',
  '\0',
  '\r',
  '\n',
  '',
  'longer',
  ' b ',
  'b\rc',
  'b\nContent-Length: 5',
  'b\r\n folded',
  'b\r\n\r\nGET / HTTP/1.1\r\nX-Api-Key: c',
];
const MORE_LINES = [
  '\r\nX-Api-Key: c',
  '\r\nContent-Length: 5',
  '\r\nTransfer-Encoding: chunked',
  '\r\nCookie: c',
];

/** Header lines with the place of the API key. */
const TEMPLATES = [
  'Host: a\r\nX-Api-Key: {key}\r\nAccept: */*',
  'Host: a\r\nX-Api-Key: \t{key} ',
  'x-api-key:{key}\r\nHost: a',
  'Host: a',
];

/** A head that differs in its first line, the value of its key, or by a line more. */
const anyChange = fc.record({
  first: fc.oneof(
    fc.webPath().map((path) => `GET /${path} HTTP/1.1`),
    fc.constantFrom(...FIRST_LINES),
  ),
  value: fc.oneof(
    fc.string({ minLength: 1, maxLength: 1 }),
    fc.constantFrom(...KEY_VALUES, ...MORE_LINES.map((line) => `b${line}`)),
  ),
  more: fc.constantFrom('', '', '', '', ...MORE_LINES),
});

const bytesOf = (text: string) => Buffer.from(`${text}\r\n\r\n`, 'latin1');

function knownHead(text: string): KnownHead {
  return new KnownHead(bytesOf(text), new HeaderCache().parse(text) as Head);
}

test('a head that is recognized equals one that is parsed', () => {
  let recognized = 0;
  fc.assert(
    fc.property(fc.constantFrom(...TEMPLATES), fc.array(anyChange, { minLength: 1 }), (template, changes) => {
      const known = knownHead(`GET / HTTP/1.1\r\n${template.replace('{key}', 'a')}`);
      for (const { first, value, more } of changes) {
        const text = `${first}\r\n${template.replace('{key}', () => value)}${more}`;
        const head = known.match(bytesOf(text));
        if (!head) continue;
        recognized++;
        expect(contentOf(head)).toEqual(contentOf(parseHead(text)));
      }
    }),
    { numRuns: 3_000 },
  );
  expect(recognized).toBeGreaterThan(1_000);
});

const headOf = (url: string, lines: string) => `GET ${url} HTTP/1.1\r\n${lines}`;

test('a request of another customer of the same program is recognized, wherever its key stands, and shares its header fields', () => {
  for (const lines of TEMPLATES) {
    const known = knownHead(headOf('/first', lines.replace('{key}', 'key1')));
    const shared = known.match(bytesOf(headOf('/first', lines.replace('{key}', 'key1'))))!.fields;
    for (const [url, key] of [
      ['/a', 'key2'],
      ['/a?longer=b', 'key3'],
      ['/', 'key3'],
      ['/', 'key4'],
    ] as const) {
      const head = known.match(bytesOf(headOf(url, lines.replace('{key}', key))))!;
      expect([head.url, head.headers.get('x-api-key')]).toEqual([url, lines.includes('key') ? key : null]);
      expect(head.fields).toBe(shared);
    }
  }
});

test('a request that differs in more is not recognized', () => {
  const lines = 'Host: a\r\nX-Api-Key: key1\r\nAccept: */*';
  for (const text of [
    headOf('/', lines.replace('key1', 'longer')),
    headOf('/', lines.replace('key1', 'key ')),
    headOf('/', lines.replace('key1', 'k\r\ny')),
    headOf('/', lines.replace('Host: a', 'Host: b')),
    headOf('/', `${lines}\r\nContent-Length: 5`),
    headOf('/', `${lines}\r\n\r\n${headOf('/', lines)}`),
    headOf('/a b', lines),
    headOf('/a#b', lines),
    headOf('/ä', lines),
    headOf('http://a/', lines),
    headOf('/', lines).replace('GET', 'HEAD'),
    headOf('/', lines).replace('1.1', '1.0'),
  ])
    expect(knownHead(headOf('/', lines)).match(bytesOf(text))).toBeUndefined();
});

test('after a request whose URL had to be encoded or shortened, only the same one is recognized', () => {
  for (const url of ['/ä', 'http://a/b']) {
    const text = headOf(url, 'Host: a');
    const known = knownHead(text);
    expect(contentOf(known.match(bytesOf(text))!)).toEqual(contentOf(parseHead(text)));
    expect(known.match(bytesOf(headOf('/b', 'Host: a')))).toBeUndefined();
  }
});
