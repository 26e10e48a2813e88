import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { readTick } from './push-body.ts';
import { PUSHED_BARS, PUSHED_TICKS } from './push-schema.ts';

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

test('the documented schema allows every body that is accepted: a list, prices as text, numbers as ids, no source', () => {
  const tick = { symbol: 'XAU', price: '2350.5', at: NOW, id: 7 };
  expect(readTick(tick, NOW)).toMatchObject({ price: 2350.5, id: '7' });
  expect(PUSHED_TICKS.safeParse([tick]).success).toBe(true);
  expect(PUSHED_TICKS.safeParse({ ticks: [tick] }).success).toBe(true);
  expect(
    PUSHED_TICKS.safeParse({ source: 'desk', accept: true, ticks: [{ ...tick, note: 'x' }] }).success,
  ).toBe(true);
  expect(PUSHED_BARS.safeParse([{ symbol: 'XAU', date: '2026-07-14', price: '1' }]).success).toBe(true);
});

test('what the reader refuses, the documented schema refuses too', () => {
  for (const wrong of [{ price: 'a' }, { price: null }, { symbol: '' }, { id: '' }, { at: true }]) {
    const tick = { symbol: 'XAU', price: 1, at: NOW, ...wrong };
    expect(readTick(tick, NOW)).toHaveProperty('reason');
    expect(PUSHED_TICKS.safeParse({ ticks: [tick] }).success).toBe(false);
  }
});
