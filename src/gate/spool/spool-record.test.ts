import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { addCount, COUNT_MAX, pack, saltOf, unpack } from './spool-record.ts';

const SALT = fc
  .string()
  .map((leaseId) => saltOf({ accountId: 'acc', period: 202611, leaseId, replica: 'r' }));

test('every flipped bit of a count is detected', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: COUNT_MAX }), fc.nat(63), SALT, (count, bit, salt) => {
      const cell = new Float64Array([pack(count, salt)]);
      expect(unpack(cell[0]!, salt)).toBe(count);
      new Uint8Array(cell.buffer)[bit >> 3]! ^= 1 << (bit & 7);
      expect(unpack(cell[0]!, salt)).toBeUndefined();
    }),
    { numRuns: 5_000 },
  );
});

test('a count that was added to is valid for its owner only', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(100_000), { maxLength: 20 }), SALT, SALT, (units, salt, other) => {
      const cell = new Float64Array([pack(0, salt)]);
      for (const one of units) addCount(cell, 0, one);
      expect(unpack(cell[0]!, salt)).toBe(units.reduce((sum, one) => sum + one, 0));
      if (other !== salt) expect(unpack(cell[0]!, other)).toBeUndefined();
    }),
  );
});

test('zeros are not a count', () => {
  expect(unpack(0, 0)).toBeUndefined();
  expect(unpack(Number.NaN, 0)).toBeUndefined();
  expect(unpack(pack(COUNT_MAX, 0) + 2 ** 24, 0)).toBeUndefined();
});
