import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { readQuery } from './query.ts';

const name = fc.oneof(fc.constantFrom('symbols', 'date'), fc.integer({ min: 0, max: 30 }).map(String));
const pair = fc.tuple(name, fc.constantFrom('', 'XAU', 'a b'));

test('parameters are grouped by name in the order sent, however many there are, and know which were read', () => {
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 60 }), fc.array(name), (pairs, read) => {
      const text = pairs.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&');
      const query = readQuery(text);
      const expected = Map.groupBy(pairs, ([key]) => key);
      for (const key of read) expect(query.get(key)).toEqual(expected.get(key)?.map(([, value]) => value));
      expect([...query]).toEqual(
        [...expected].map(([key, sent]) => ({
          name: key,
          values: sent.map(([, value]) => value),
          isRead: read.includes(key),
        })),
      );
    }),
  );
});

test('a parameter without a value is empty, and empty pairs are ignored', () => {
  expect([...readQuery('&&a&b=&=c&')].map((param) => [param.name, param.values])).toEqual([
    ['a', ['']],
    ['b', ['']],
    ['', ['c']],
  ]);
});
