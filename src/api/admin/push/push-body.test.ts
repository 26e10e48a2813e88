import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { readBar, readTick } from './push-body.ts';
import { PUSHED_BARS, PUSHED_TICKS } from './push-schema.ts';

const NOW = Date.parse('2026-07-15T14:00:00Z');

/** Valid values of a field, mixed with any other JSON. */
const field = (...right: fc.Arbitrary<unknown>[]) =>
  fc.oneof(...right, fc.jsonValue(), fc.constant(undefined));
const record = fc.record({
  symbol: field(fc.constantFrom('XAU', 'HG-SPOT', 'a', '', ' XAU', 'Ä')),
  price: field(fc.double(), fc.constantFrom(-0, 0, 1e308, '12.5', ' 1 ', Number.POSITIVE_INFINITY)),
  at: field(fc.constantFrom(NOW, NOW / 1000, NOW + 1e9, '2026-07-15T14:00:00Z', '2026-07-15', Number.NaN)),
  id: field(
    fc.string({ unit: 'binary' }),
    fc.nat(),
    fc.constantFrom('a'.repeat(100), 'a'.repeat(101), '\u0007'),
  ),
});

test('the fast path for ticks gives what the schema gives', () => {
  let valid = 0;
  fc.assert(
    fc.property(record, (one) => {
      const fast = readTick(one, NOW);
      if (!('reason' in fast)) valid++;
      if (typeof one.symbol !== 'string') return;
      // A space sends the record to the schema, which trims it.
      const slow = readTick({ ...one, symbol: `${one.symbol} ` }, NOW);
      if ('reason' in fast) expect(slow).toHaveProperty('reason');
      else expect(slow).toEqual(fast);
    }),
    { numRuns: 2_000 },
  );
  expect(valid).toBeGreaterThan(5);
});

test.each([['2026-02-30T12:00:00Z'], ['2026-06-31T12:00:00+02:00'], ['2025-02-29T12:00Z']])(
  'a time on a day that does not exist is refused: %s',
  (at) => {
    expect(readTick({ symbol: 'XAU', price: 1, at }, NOW)).toEqual({
      reason: expect.stringContaining('at must be a time'),
    });
  },
);

test('times with a zone are read, also on 29 February', () => {
  const time = (at: string) => readTick({ symbol: 'XAU', price: 1, at }, NOW);
  expect(time('2024-02-29T12:00:00Z')).toMatchObject({ at: Date.UTC(2024, 1, 29, 12) });
  expect(time('2026-07-01T00:30:00+02:00')).toMatchObject({ at: Date.UTC(2026, 5, 30, 22, 30) });
});

test('a bar with a price beside its open, high, low or close is refused', () => {
  const bar = { symbol: 'XAU', date: '2026-07-14', price: 100 };
  expect(readBar(bar)).toMatchObject({ open: 100, high: 100, low: 100, close: 100 });
  for (const name of ['open', 'high', 'low', 'close'])
    expect(readBar({ ...bar, [name]: 99 })).toEqual({
      reason: 'price: stands for open, high, low and close; send either it or those four',
    });
});

test('a price of negative zero becomes zero', () => {
  expect(readTick({ symbol: 'XAU', price: -0, at: NOW }, NOW)).toMatchObject({ price: 0 });
});

test.each([
  [0.1 + 0.2, 0.3],
  ['100.12345678901234567', 100.123456789012],
  [1987.0999755859375, 1987.09997558594],
])('a price keeps 15 significant digits, in a tick and in a bar: %p', (price, rounded) => {
  expect(readTick({ symbol: 'XAU', price, at: NOW }, NOW)).toMatchObject({ price: rounded });
  expect(readTick({ symbol: ' XAU', price, at: NOW }, NOW)).toMatchObject({ price: rounded });
  const bar = { symbol: 'XAU', date: '2026-07-14', open: price, high: price, low: price, close: price };
  expect(readBar(bar)).toMatchObject({ open: rounded, high: rounded, low: rounded, close: rounded });
});

test('a price that rounding makes too large for a number is refused', () => {
  const refused = { reason: 'price must be a number (received 1.7976931348623157e+308)' };
  expect(readTick({ symbol: 'XAU', price: Number.MAX_VALUE, at: NOW }, NOW)).toEqual(refused);
});

test('a tick without a time, or with one under another name, is told what to send', () => {
  const expected = 'must be a time such as 2026-07-15T14:00:00Z, or seconds or milliseconds since 1970';
  const reason = expect.stringContaining(expected);
  for (const tick of [{}, { at: null }, { time: NOW }, { at: 'yesterday' }])
    expect(readTick({ symbol: 'XAU', price: 1, ...tick }, NOW)).toEqual({ reason });
});

test('the documented schema allows every body that is accepted: an array, prices as strings, numeric ids, no source', () => {
  const tick = { symbol: 'XAU', price: '2350.5', at: NOW, id: 7 };
  expect(readTick(tick, NOW)).toMatchObject({ price: 2350.5, id: '7' });
  expect(PUSHED_TICKS.safeParse([tick]).success).toBe(true);
  expect(PUSHED_TICKS.safeParse({ ticks: [tick] }).success).toBe(true);
  expect(
    PUSHED_TICKS.safeParse({ source: 'feedAdmin', accept: true, ticks: [{ ...tick, note: 'x' }] }).success,
  ).toBe(true);
  expect(PUSHED_BARS.safeParse([{ symbol: 'XAU', date: '2026-07-14', price: '1' }]).success).toBe(true);
});

test('the documented schema refuses whatever the reader refuses', () => {
  for (const wrong of [{ price: 'a' }, { price: null }, { symbol: '' }, { id: '' }, { at: true }]) {
    const tick = { symbol: 'XAU', price: 1, at: NOW, ...wrong };
    expect(readTick(tick, NOW)).toHaveProperty('reason');
    expect(PUSHED_TICKS.safeParse({ ticks: [tick] }).success).toBe(false);
  }
});
