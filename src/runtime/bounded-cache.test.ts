import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { BoundedCache, copyText, textBytes } from './bounded-cache.ts';

test('a cache never uses more bytes than its limit, and counts exactly what it holds', () => {
  const step = fc.record({
    key: fc.integer({ min: 0, max: 20 }),
    kind: fc.constantFrom('set', 'set', 'set', 'grow', 'delete', 'limit'),
    bytes: fc.integer({ min: 0, max: 3_000 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const evicted: number[] = [];
      const cache = new BoundedCache<number, number>({
        bytesMax: 5_000,
        onEvict: (key) => evicted.push(key),
      });
      for (const { key, kind, bytes } of steps) {
        if (kind === 'set') cache.set(key, key, bytes);
        if (kind === 'grow') cache.grow(key, bytes);
        if (kind === 'delete') cache.delete(key);
        if (kind === 'limit') cache.limitTo(2_000 + bytes);
        expect(cache.bytes).toBeLessThanOrEqual(cache.bytesMax);
        expect([...cache.values()]).toHaveLength(cache.size);
      }
      expect(cache.evictions).toBe(evicted.length);
      for (const key of [...cache.values()]) cache.delete(key);
      expect(cache.bytes).toBe(0);
    }),
  );
});

test('the oldest entry is evicted first, and one larger than the cache is not stored', () => {
  const cache = new BoundedCache<string, number>({ bytesMax: 3_000 });
  for (let i = 0; i < 5; i++) cache.set(`${i}`, i, 700);
  expect([...cache.values()]).toEqual([2, 3, 4]);
  expect(cache.set('large', 9, 3_000)).toBe(false);
  expect([...cache.values()]).toEqual([2, 3, 4]);
});

test('entries are evicted in the order in which they were added, whatever happens in between', () => {
  const step = fc.record({
    key: fc.integer({ min: 0, max: 9 }),
    kind: fc.constantFrom('set', 'set', 'set', 'delete', 'evict', 'evict', 'clear'),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const expected = new Set<number>();
      const evicted: number[] = [];
      const cache = new BoundedCache<number, number>({
        bytesMax: 100_000,
        onEvict: (key) => evicted.push(key),
      });
      for (const { key, kind } of steps) {
        if (kind === 'set') {
          cache.set(key, key, 10);
          expected.add(key);
        } else if (kind === 'delete') {
          cache.delete(key);
          expected.delete(key);
        } else if (kind === 'clear') {
          cache.clear();
          expected.clear();
        } else {
          const oldest = [...expected].slice(0, 1);
          cache.evictOldest();
          expect(evicted.splice(0)).toEqual(oldest);
          for (const one of oldest) expected.delete(one);
        }
        expect([...cache.values()]).toEqual([...expected]);
      }
    }),
  );
});

test('the characters of a key count, two bytes each outside of Latin-1', () => {
  expect(textBytes('x'.repeat(8_000)) - textBytes('')).toBe(8_000);
  expect(textBytes('€'.repeat(8_000)) - textBytes('')).toBe(16_000);
  const cache = new BoundedCache<string, number>({ bytesMax: 1_000_000 });
  cache.set('x'.repeat(8_000), 1, 0);
  expect(cache.bytes).toBeGreaterThan(8_000);
});

test('with admission on second use, a key is admitted from its second use on', () => {
  const cache = new BoundedCache<string, number>({ bytesMax: 1_000_000, admitsOnSecondUse: true });
  expect([cache.admits('a'), cache.admits('a'), cache.admits('b')]).toEqual([false, true, false]);
});

test('a copied text equals the original', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.constant('\ud800 alone')), (text) =>
      expect(copyText(text)).toBe(text),
    ),
  );
});
