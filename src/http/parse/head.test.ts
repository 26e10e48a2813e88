import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Head, parseHead } from './head.ts';

const parse = (text: string) => parseHead(text.replaceAll('\n', '\r\n'));
const statusOf = (raw: string) => {
  const head = parseHead(raw);
  return 'reason' in head ? head.status : 200;
};

describe('the head of a request', () => {
  test('has a method, a target, and headers with lower-case names', () => {
    const head = parse(
      'GET /rates/latest?symbols=XAU HTTP/1.1\nHost: test\nX-Api-Key:\t op_1 \nAccept: a\nAccept: b',
    );
    expect(head).toBeInstanceOf(Head);
    const { method, url, headers, framing, persists } = head as Head;
    expect({ method, url, framing, persists }).toEqual({
      method: 'GET',
      url: '/rates/latest?symbols=XAU',
      framing: undefined,
      persists: true,
    });
    expect(headers.get('x-api-key')).toBe('op_1');
    expect(headers.get('accept')).toBe('a, b');
    expect(headers.get('cookie')).toBeNull();
  });

  test('tells whether the connection stays open', () => {
    const persists = (line: string, connection: string) =>
      (parse(`GET / ${line}\nHost: a\nConnection: ${connection}`) as Head).persists;
    expect(persists('HTTP/1.1', 'Upgrade')).toBe(true);
    expect(persists('HTTP/1.1', 'Upgrade, Close')).toBe(false);
    expect(persists('HTTP/1.0', 'x')).toBe(false);
    expect(persists('HTTP/1.0', 'Keep-Alive')).toBe(true);
    expect(persists('HTTP/1.0', 'Keep-Alive, close')).toBe(false);
  });

  test('may have an absolute target, as for a proxy', () => {
    const url = (target: string) => (parse(`GET ${target} HTTP/1.1\nHost: a`) as Head).url;
    expect(url('http://example.org/symbols?x=1')).toBe('/symbols?x=1');
    expect(url('HTTPS://example.org?x=1')).toBe('/?x=1');
    expect(url('http://example.org')).toBe('/');
  });

  test('may contain unescaped non-ASCII characters, which are then escaped', () => {
    const bytes = Buffer.from('GET /symbols?q=né HTTP/1.1\r\nHost: a').toString('latin1');
    expect((parseHead(bytes) as Head).url).toBe('/symbols?q=n%C3%A9');
  });

  const REFUSED: Record<string, [status: number, head: string]> = {
    'no HTTP at all': [400, 'nonsense'],
    'HTTP/0.9': [400, 'GET /'],
    'HTTP/2': [505, 'PRI * HTTP/2.0'],
    'a second space': [400, 'GET  / HTTP/1.1\r\nHost: a'],
    'a tab instead of a space': [400, 'GET\t/ HTTP/1.1\r\nHost: a'],
    'a line end in the target': [400, 'GET /a\nb HTTP/1.1\r\nHost: a'],
    'a zero byte in the target': [400, 'GET /a\0b HTTP/1.1\r\nHost: a'],
    'a fragment': [400, 'GET /a#b HTTP/1.1\r\nHost: a'],
    'a target without a slash': [400, 'GET symbols HTTP/1.1\r\nHost: a'],
    CONNECT: [400, 'CONNECT example.org:443 HTTP/1.1\r\nHost: a'],
    'no host': [400, 'GET / HTTP/1.1'],
    'two hosts': [400, 'GET / HTTP/1.1\r\nHost: a\r\nHost: b'],
    'two hosts in one': [400, 'GET / HTTP/1.1\r\nHost: a, b'],
    'a host with a path': [400, 'GET / HTTP/1.1\r\nHost: a/b'],
    'a header without a colon': [400, 'GET / HTTP/1.1\r\nHost: a\r\nx'],
    'a header without a name': [400, 'GET / HTTP/1.1\r\nHost: a\r\n: x'],
    'a space before the colon': [400, 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length : 5'],
    'a folded header': [400, 'GET / HTTP/1.1\r\nHost: a\r\nx: y\r\n z: 1'],
    'a bare LF between headers': [400, 'GET / HTTP/1.1\r\nHost: a\nx: y'],
    'a bare LF at a value’s end': [400, 'GET / HTTP/1.1\r\nHost: a\r\nx: y\n'],
    'a bare CR in a value': [400, 'GET / HTTP/1.1\r\nHost: a\r\nx: y\rContent-Length: 5'],
    'a zero byte in a value': [400, 'GET / HTTP/1.1\r\nHost: a\r\nx: \0'],
    'two lengths': [400, 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5'],
    'two lengths in one': [400, 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5'],
    'a negative length': [400, 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1'],
    'a length with a sign': [400, 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: +1'],
    'a length in hex': [400, 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x5'],
    'an endless length': [400, `GET / HTTP/1.1\r\nHost: a\r\nContent-Length: ${'9'.repeat(30)}`],
    'a length and chunks': [
      400,
      'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked',
    ],
    'a length and a no-break space': [400, 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\xa0'],
    'a no-break space and chunks': [501, 'GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \xa0chunked'],
    'a bare LF in the URL’s host': [400, 'GET http://a\nb/ HTTP/1.1\r\nHost: a'],
    'a URL without a host': [400, 'GET http:///a HTTP/1.1\r\nHost: a'],
    'a query and no path': [400, 'GET ?a HTTP/1.1\r\nHost: a'],
    'another encoding': [501, 'GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked'],
    'an encoding after a no-break space': [
      501,
      'GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \xa0chunked',
    ],
    'a length before a no-break space': [400, 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\xa0'],
    'a bare LF in an address': [400, 'GET http://a\nx:y/b HTTP/1.1\r\nHost: a'],
    'chunks twice': [501, 'GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked'],
    'chunks not last': [501, 'GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity'],
    'two encodings': [
      400,
      'GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity',
    ],
    'chunks in HTTP/1.0': [400, 'GET / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked'],
    'another expectation': [417, 'GET / HTTP/1.1\r\nHost: a\r\nExpect: tea'],
    'too many headers': [431, `GET / HTTP/1.1\r\nHost: a${'\r\nx: y'.repeat(100)}`],
  };
  for (const [what, [status, head]] of Object.entries(REFUSED)) {
    test(`with ${what} is refused with ${status}`, () => expect(statusOf(head)).toBe(status));
  }

  test('of any text is parsed or refused, and a parsed one contains no control character', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'GET',
        ' ',
        '/',
        'HTTP/1.1',
        '\r\n',
        '\n',
        '\r',
        'Host',
        ':',
        'a',
        '\0',
        '\t',
        'chunked',
      ),
      fc.string({ unit: 'binary', maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const head = parseHead(`GET / HTTP/1.1\r\nHost: a\r\n${pieces.join('')}`);
        if ('reason' in head) expect(head.reason).not.toBe('');
        else for (const name of ['host', 'a']) expect(head.headers.get(name) ?? '').not.toMatch(/[\r\n\0]/);
      }),
      { numRuns: 2_000 },
    );
  });
});
