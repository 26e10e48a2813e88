import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { COUNT_MAX, pack, unpack } from './spool-record.ts';

test('every flipped bit of a count is detected', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: COUNT_MAX }), fc.nat(63), (count, bit) => {
      const cell = new Float64Array([pack(count)]);
      expect(unpack(cell[0]!)).toBe(count);
      new Uint8Array(cell.buffer)[bit >> 3]! ^= 1 << (bit & 7);
      expect(unpack(cell[0]!)).toBeUndefined();
    }),
    { numRuns: 5_000 },
  );
});

test('zeros are not a count', () => {
  expect(unpack(0)).toBeUndefined();
  expect(unpack(Number.NaN)).toBeUndefined();
  expect(unpack(pack(COUNT_MAX) + 2 ** 24)).toBeUndefined();
});
