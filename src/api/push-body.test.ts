import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { readTick } from './push-body.ts';

const NOW = Date.parse('2026-07-15T14:00:00Z');

/** Parts of a record that are right, and such as JSON may hold. */
const part = (...right: fc.Arbitrary<unknown>[]) =>
  fc.oneof(...right, fc.jsonValue(), fc.constant(undefined));
const record = fc.record({
  symbol: part(fc.constantFrom('XAU', 'HG-SPOT', 'a', '', ' XAU', 'Ä')),
  price: part(fc.double(), fc.constantFrom(-0, 0, 1e308, '12.5', ' 1 ', Number.POSITIVE_INFINITY)),
  at: part(fc.constantFrom(NOW, NOW / 1000, NOW + 1e9, '2026-07-15T14:00:00Z', '2026-07-15', Number.NaN)),
  id: part(
    fc.string({ unit: 'binary' }),
    fc.nat(),
    fc.constantFrom('a'.repeat(100), 'a'.repeat(101), '\u0007'),
  ),
});

test('a tick that is read the short way is what the schema makes of it', () => {
  let usable = 0;
  fc.assert(
    fc.property(record, (one) => {
      const short = readTick(one, NOW);
      if (!('reason' in short)) usable++;
      if (typeof one.symbol !== 'string') return;
      // The schema trims, and the short way does not know spaces.
      expect(readTick({ ...one, symbol: `${one.symbol} ` }, NOW)).toEqual(short);
    }),
    { numRuns: 2_000 },
  );
  expect(usable).toBeGreaterThan(20);
});

test('zero is never below zero', () => {
  expect(readTick({ symbol: 'XAU', price: -0, at: NOW }, NOW)).toMatchObject({ price: 0 });
});
