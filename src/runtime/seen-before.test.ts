import { expect, test } from 'bun:test';
import { SeenBefore } from './seen-before.ts';

test('texts that are seen in turn are known from the second time on, even when they share their slots', () => {
  const seen = new SeenBefore({ slots: 2 ** 12, rememberedMs: 600_000 });
  const texts = Array.from({ length: 400 }, (_, i) => `/rates/latest?symbols=${i}`);
  for (const text of texts) expect(seen.has(text)).toBe(false);
  const known = texts.filter((text) => seen.has(text));
  expect(known.length).toBeGreaterThanOrEqual(395); // with one slot for each it would be 368
});

test('a text that was seen too long ago is not known', () => {
  const seen = new SeenBefore({ slots: 2, rememberedMs: 0.001 });
  seen.has('XAU');
  for (const until = performance.now() + 0.01; performance.now() < until; );
  expect(seen.has('XAU')).toBe(false);
});
