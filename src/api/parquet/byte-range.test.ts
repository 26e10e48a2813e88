import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { readByteRange } from './byte-range.ts';

test('a range selects the bytes that a slice of the file has, from the start or from the end', () => {
  fc.assert(
    fc.property(fc.nat(50), fc.nat(80), fc.nat(80), (length, a, b) => {
      const file = Array.from({ length }, (_, i) => i);
      const bytesOf = (header: string) => {
        const range = readByteRange(header, length);
        return typeof range === 'object' ? file.slice(range.start, range.end) : [];
      };
      const [first, last] = [Math.min(a, b), Math.max(a, b)];
      expect(bytesOf(`bytes=${first}-${last}`)).toEqual(file.slice(first, last + 1));
      expect(bytesOf(`bytes=${first}-`)).toEqual(file.slice(first));
      expect(bytesOf(`bytes=-${first}`)).toEqual(first === 0 ? [] : file.slice(-first));
    }),
  );
});

test('a range beyond the end is unsatisfiable; what is not one range is ignored', () => {
  for (const header of ['bytes=10-', 'bytes=10-20', 'bytes=-0']) {
    expect(readByteRange(header, 10)).toBe('unsatisfiable');
  }
  const ignored = [
    null,
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=5-4',
    'bytes=0-1,4-5',
    'rows=0-1',
    'bytes=a-b',
    'bytes=1--2',
  ];
  for (const header of ignored) expect(readByteRange(header, 10)).toBeUndefined();
});
