import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { heldBytes } from '../../../test/support/memory.ts';
import { BodyReader } from './body.ts';

const CHUNKED = { kind: 'chunked' } as const;
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** Feeds a reader in pieces, and gives the body and how much of the input was not part of it. */
function feed(reader: BodyReader, pieces: readonly Uint8Array[]): { body: string; rest: string } | number {
  let rest = Buffer.alloc(0);
  for (const piece of pieces) {
    if (reader.isDone) {
      rest = Buffer.concat([rest, piece]);
      continue;
    }
    const taken = reader.take(piece);
    if (typeof taken !== 'number') return taken.status;
    rest = Buffer.concat([rest, piece.subarray(taken)]);
  }
  return { body: decode(reader.bytes), rest: decode(rest) };
}

function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const places = [0, ...at.map((one) => one % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, i) => bytes.subarray(places[i]!, end));
}

describe('a body', () => {
  test('in chunks is the same however it is chunked and however it arrives', () => {
    const chunks = fc.array(fc.string({ minLength: 1, maxLength: 40 }), { maxLength: 8 });
    fc.assert(
      fc.property(chunks, fc.array(fc.nat(500), { maxLength: 6 }), fc.string(), (parts, at, next) => {
        const frames = parts.map((part) => {
          const size = Buffer.byteLength(part).toString(16);
          return `${size}\r\n${part}\r\n`;
        });
        const sent = Buffer.from(`${frames.join('')}0\r\n\r\n${next}`);
        const got = feed(new BodyReader(CHUNKED, 10_000), cut(sent, at));
        expect(got).toEqual({ body: parts.join(''), rest: next });
      }),
    );
  });

  test('of a length is that long, and what follows is not part of it', () => {
    const reader = new BodyReader({ kind: 'length', bytes: 5 }, 100);
    expect(feed(reader, [Buffer.from('he'), Buffer.from('llo GET /')])).toEqual({
      body: 'hello',
      rest: ' GET /',
    });
  });

  test('that comes byte by byte takes no more memory than its bytes', () => {
    const count = 1_000_000;
    const reader = new BodyReader(CHUNKED, count);
    const piece = Buffer.from('1\r\na\r\n'.repeat(10_000));
    const before = heldBytes();
    for (let i = 0; i < count; i += 10_000) expect(reader.take(piece)).toBe(piece.length);
    expect(heldBytes() - before).toBeLessThan(10_000_000);
    expect(reader.bytes).toHaveLength(count);
  });

  test('that is skipped is not kept, and is broken off when it is long', () => {
    const reader = new BodyReader(CHUNKED, 1_000);
    reader.take(Buffer.from('5\r\nhello\r\n'));
    reader.skip(10);
    expect(reader.take(Buffer.from('a\r\n0123456789\r\n'))).toBe(15);
    expect(reader.take(Buffer.from('1\r\n'))).toMatchObject({ status: 413 });
    expect(decode(reader.bytes)).toBe('');
  });

  test('may have extensions, which are skipped', () => {
    const sent = '5;name="x"\r\nhello\r\n0;y\r\n\r\nnext';
    expect(feed(new BodyReader(CHUNKED, 100), [Buffer.from(sent)])).toEqual({ body: 'hello', rest: 'next' });
  });

  const REFUSED: Record<string, [status: number, sent: string]> = {
    'a size that is none': [400, 'x\r\nhello\r\n'],
    'a blank after the size': [400, '5 \r\nhello\r\n'],
    'a zero byte in an extension': [400, '5;a\0\r\nhello\r\n'],
    'a size with a sign': [400, '+5\r\nhello\r\n'],
    'a size in another notation': [400, '0x5\r\nhello\r\n'],
    'a size without end': [400, `${'f'.repeat(20)}\r\n`],
    'an empty size': [400, '\r\nhello\r\n'],
    'a bare LF after the size': [400, '5\nhello\r\n'],
    'more than the chunk says': [400, '4\r\nhello\r\n'],
    'less than the chunk says': [400, '6\r\nhello\r\n0\r\n\r\n'],
    'a line without end': [400, `5;${'x'.repeat(2_000)}`],
    'headers after it': [400, '0\r\nX-A: 1\r\n\r\n'],
    'more than is taken': [413, 'ffff\r\n'],
  };
  for (const [what, [status, sent]] of Object.entries(REFUSED)) {
    test(`with ${what} is refused with ${status}`, () =>
      expect(feed(new BodyReader(CHUNKED, 1_000), [Buffer.from(sent)])).toBe(status));
  }

  test('that says it is too long is known by its length alone', () => {
    expect(new BodyReader({ kind: 'length', bytes: 1_001 }, 1_000).fault?.status).toBe(413);
    expect(new BodyReader({ kind: 'length', bytes: 1_000 }, 1_000).fault).toBeUndefined();
  });
});
