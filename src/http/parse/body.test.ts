import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { heldBytes } from '../../../test/support/monitoring/memory.ts';
import { BodyParser } from './body.ts';

const CHUNKED = { kind: 'chunked' } as const;
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** Feeds a parser in pieces. Returns the body and the rest of the input, or the status of the refusal. */
function feed(parser: BodyParser, pieces: readonly Uint8Array[]): { body: string; rest: string } | number {
  let rest = Buffer.alloc(0);
  for (const piece of pieces) {
    if (parser.isComplete) {
      rest = Buffer.concat([rest, piece]);
      continue;
    }
    const taken = parser.take(piece);
    if (typeof taken !== 'number') return taken.status;
    rest = Buffer.concat([rest, piece.subarray(taken)]);
  }
  return { body: decode(parser.bytes), rest: decode(rest) };
}

function split(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const places = [0, ...at.map((one) => one % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, i) => bytes.subarray(places[i]!, end));
}

describe('a body', () => {
  test('in chunks is the same however it is chunked and however it is split into packets', () => {
    const chunks = fc.array(fc.string({ minLength: 1, maxLength: 40 }), { maxLength: 8 });
    fc.assert(
      fc.property(chunks, fc.array(fc.nat(500), { maxLength: 6 }), fc.string(), (parts, at, next) => {
        const frames = parts.map((part) => {
          const size = Buffer.byteLength(part).toString(16);
          return `${size}\r\n${part}\r\n`;
        });
        const sent = Buffer.from(`${frames.join('')}0\r\n\r\n${next}`);
        const got = feed(new BodyParser(CHUNKED, 10_000), split(sent, at));
        expect(got).toEqual({ body: parts.join(''), rest: next });
      }),
    );
  });

  test('with a length ends there, and what follows is not part of it', () => {
    const parser = new BodyParser({ kind: 'length', bytes: 5 }, 100);
    expect(feed(parser, [Buffer.from('he'), Buffer.from('llo GET /')])).toEqual({
      body: 'hello',
      rest: ' GET /',
    });
  });

  test('that arrives byte by byte takes no more memory than its bytes', () => {
    const count = 1_000_000;
    const parser = new BodyParser(CHUNKED, count);
    const piece = Buffer.from('1\r\na\r\n'.repeat(10_000));
    const before = heldBytes();
    for (let i = 0; i < count; i += 10_000) expect(parser.take(piece)).toBe(piece.length);
    expect(heldBytes() - before).toBeLessThan(10_000_000);
    expect(parser.bytes).toHaveLength(count);
  });

  test('that is skipped is not buffered, and is refused when it is long', () => {
    const parser = new BodyParser(CHUNKED, 1_000);
    parser.take(Buffer.from('5\r\nhello\r\n'));
    parser.skip(10);
    expect(parser.take(Buffer.from('a\r\n0123456789\r\n'))).toBe(15);
    expect(parser.take(Buffer.from('1\r\n'))).toMatchObject({ status: 413 });
    expect(decode(parser.bytes)).toBe('');
  });

  test('may have chunk extensions, which are ignored', () => {
    const sent = '5;name="x"\r\nhello\r\n0;y\r\n\r\nnext';
    expect(feed(new BodyParser(CHUNKED, 100), [Buffer.from(sent)])).toEqual({ body: 'hello', rest: 'next' });
  });

  const REFUSED: Record<string, [status: number, sent: string]> = {
    'an invalid size': [400, 'x\r\nhello\r\n'],
    'a space after the size': [400, '5 \r\nhello\r\n'],
    'a zero byte in an extension': [400, '5;a\0\r\nhello\r\n'],
    'a size with a sign': [400, '+5\r\nhello\r\n'],
    'a size with a prefix': [400, '0x5\r\nhello\r\n'],
    'an endless size': [400, `${'f'.repeat(20)}\r\n`],
    'an empty size': [400, '\r\nhello\r\n'],
    'a bare LF after the size': [400, '5\nhello\r\n'],
    'a chunk longer than its size': [400, '4\r\nhello\r\n'],
    'a chunk shorter than its size': [400, '6\r\nhello\r\n0\r\n\r\n'],
    'an endless line': [400, `5;${'x'.repeat(2_000)}`],
    trailers: [400, '0\r\nX-A: 1\r\n\r\n'],
    'more bytes than the limit': [413, 'ffff\r\n'],
  };
  for (const [what, [status, sent]] of Object.entries(REFUSED)) {
    test(`with ${what} is refused with ${status}`, () =>
      expect(feed(new BodyParser(CHUNKED, 1_000), [Buffer.from(sent)])).toBe(status));
  }

  test('that is too long is refused by its declared length', () => {
    expect(new BodyParser({ kind: 'length', bytes: 1_001 }, 1_000).fault?.status).toBe(413);
    expect(new BodyParser({ kind: 'length', bytes: 1_000 }, 1_000).fault).toBeUndefined();
  });
});
