import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createKey } from '../key.ts';
import { type CachedKey, KeyCache } from './key-cache.ts';

const KEYS = Array.from({ length: 400 }, (_, i) => keyNumber(i));
const KEY_BYTES = 100;

/** Of another key, these are the same characters or the same low bytes. */
const NO_KEYS = ['', KEYS[0]!.slice(0, -1), `${KEYS[0]}a`, KEYS[0]!.replace('p', 'Ű'), '€'.repeat(45)];

test('a cache finds what was added and not deleted, and nothing else', () => {
  const step = fc.record({ at: fc.nat(KEYS.length - 1), isAdded: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 1_000 }), (steps) => {
      const cache = newCache(1_000_000);
      const expected = new Map<string, CachedKey>();
      for (const { at, isAdded } of steps) {
        const text = KEYS[at]!;
        const known = expected.get(text);
        if (isAdded && !known) {
          const key = { cacheEntry: -1 };
          cache.add(text, key);
          expected.set(text, key);
        } else if (!isAdded && known) {
          cache.delete(known);
          expected.delete(text);
        }
      }
      for (const text of KEYS) expect(cache.get(text)).toBe(expected.get(text)!);
      for (const text of NO_KEYS) expect(cache.get(text)).toBeUndefined();
      expect(cache.size).toBe(expected.size);
      expect(cache.bytes).toBe(expected.size * KEY_BYTES);
      cache.clear();
      for (const text of KEYS) expect(cache.get(text)).toBeUndefined();
      expect([cache.size, cache.bytes]).toEqual([0, 0]);
    }),
  );
});

test('a full cache evicts a key for each that it adds, and has all others', () => {
  const evicted = new Set<CachedKey>();
  const cache = newCache(10 * KEY_BYTES, (key) => evicted.add(key));
  const added = KEYS.map((text) => {
    const key = { cacheEntry: -1 };
    cache.add(text, key);
    expect(cache.get(text)).toBe(key);
    expect(cache.bytes).toBeLessThanOrEqual(cache.bytesMax);
    return key;
  });
  expect(cache.size).toBe(10);
  expect([cache.evictions, evicted.size]).toEqual([KEYS.length - 10, KEYS.length - 10]);
  expect(KEYS.map((text) => cache.get(text))).toEqual(
    added.map((key) => (evicted.has(key) ? undefined : key)),
  );
});

test('a cache that was cleared after it grew still evicts', () => {
  const cache = newSizedCache(300);
  for (const text of KEYS) cache.add(text, { cacheEntry: -1, bytes: 1 });
  cache.clear();
  const [first, second] = [300, 300].map((bytes) => ({ cacheEntry: -1, bytes }));
  cache.add(KEYS[0]!, first!);
  cache.add(KEYS[1]!, second!);
  expect([cache.get(KEYS[0]!), cache.get(KEYS[1]!)]).toEqual([undefined, second]);
});

test('deleting an evicted key leaves the one that has its entry now', () => {
  const cache = newCache(KEY_BYTES);
  const [evicted, added] = [{ cacheEntry: -1 }, { cacheEntry: -1 }];
  cache.add(KEYS[0]!, evicted);
  cache.add(KEYS[1]!, added);
  cache.delete(evicted);
  expect(cache.get(KEYS[1]!)).toBe(added);
});

test('a key that is larger than the cache replaces all others', () => {
  const cache = newSizedCache(1_000);
  const large = { cacheEntry: -1, bytes: 2_000 };
  cache.add(KEYS[0]!, { cacheEntry: -1, bytes: 100 });
  cache.add(KEYS[1]!, large);
  expect([cache.get(KEYS[0]!), cache.get(KEYS[1]!)]).toEqual([undefined, large]);
});

function newCache(bytesMax: number, onEvict: (key: CachedKey) => void = () => {}): KeyCache<CachedKey> {
  return new KeyCache(bytesMax, () => KEY_BYTES, onEvict);
}

function newSizedCache(bytesMax: number): KeyCache<CachedKey & { bytes: number }> {
  return new KeyCache(
    bytesMax,
    ({ bytes }) => bytes,
    () => {},
  );
}

/** Keys that are the same in every run. */
function keyNumber(i: number): string {
  let state = i + 1;
  return createKey((length) =>
    Uint8Array.from({ length }, () => {
      state = Math.imul(state, 1_103_515_245) + 12_345;
      return (state >>> 16) & 0xff;
    }),
  );
}
