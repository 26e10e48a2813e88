import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { readQuery, readTarget } from '../model/query.ts';
import { splitKey } from './split-key.ts';

const SPLIT: [url: string, withoutKey: string, key: string | undefined][] = [
  ['/symbols', '/symbols', undefined],
  ['/symbols?apiKey=k', '/symbols', 'k'],
  ['/a?b=c&apiKey=k', '/a?b=c', 'k'],
  ['/a?apiKey=k&b=c', '/a?b=c', 'k'],
  ['/a?b=c&apiKey=k&d=e', '/a?b=c&d=e', 'k'],
  ['/a?b=c&apiKey=%20+k%0A', '/a?b=c', 'k'],
  ['/a?apiKey=', '/a', ''],
  ['/a?apiKey=&b=c', '/a?b=c', ''],
  ['/a?apiKey=k&apiKey=l', '/a?apiKey=k&apiKey=l', undefined],
  ['/a?myapiKey=k', '/a?myapiKey=k', undefined],
  ['/apiKey=k', '/apiKey=k', undefined],
  ['/a&apiKey=k', '/a&apiKey=k', undefined],
  ['/a&apiKey=k?apiKey=l', '/a&apiKey=k?apiKey=l', undefined],
  ['apiKey=k', 'apiKey=k', undefined],
  ['/a?%61piKey=k', '/a?%61piKey=k', undefined],
];
for (const [url, withoutKey, key] of SPLIT) {
  test(`${url} asks for ${withoutKey} with ${key === undefined ? 'no key' : `the key "${key}"`}`, () => {
    expect(splitKey(url)).toEqual({ withoutKey, key });
  });
}

const pair = fc.constantFrom(
  'apiKey=k',
  'apiKey=%20k',
  'apiKey',
  'b=c',
  'b',
  'apikey=k',
  '%61piKey=k',
  '',
  'x=apiKey=k',
);

test('the parameters without the key are those of the whole URL without it, or the whole URL stays', () => {
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 5 }), (pairs) => {
      const url = `/a?${pairs.join('&')}`;
      const { withoutKey, key } = splitKey(url);
      const all = readQuery(readTarget(url).query);
      const rest = readQuery(readTarget(withoutKey).query);
      if (key === undefined) expect(withoutKey).toBe(url);
      else expect([...rest]).toEqual([...all].filter(({ name }) => name !== 'apiKey'));
      if (key !== undefined) expect(all.get('apiKey')!.map((one) => one.trim())).toEqual([key]);
    }),
    { numRuns: 2_000 },
  );
});
