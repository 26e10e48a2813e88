import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { exp, normal, seedOf, uniform } from './noise.ts';

const COUNT = 20_000;
const draws = (draw: (n: number) => number) => Array.from({ length: COUNT }, (_, n) => draw(n));
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

test('normal has mean 0, variance 1, and the tails of a normal', () => {
  const seed = seedOf('XAU close');
  const values = draws((n) => normal(seed, n));
  expect(Math.abs(mean(values))).toBeLessThan(0.03);
  expect(Math.abs(mean(values.map((v) => v * v)) - 1)).toBeLessThan(0.05);
  expect(values.filter((v) => Math.abs(v) > 2).length / COUNT).toBeCloseTo(0.0455, 2);
});

test('uniform fills [0, 1) evenly', () => {
  const seed = seedOf('XAU high');
  const tenths = draws((n) => Math.floor(uniform(seed, n) * 10));
  for (let tenth = 0; tenth < 10; tenth++) {
    expect(tenths.filter((t) => t === tenth).length / COUNT).toBeCloseTo(0.1, 2);
  }
});

test('neighbouring numbers and neighbouring codes are unrelated', () => {
  const gold = draws((n) => normal(seedOf('XAU close'), n));
  const silver = draws((n) => normal(seedOf('XAG close'), n));
  expect(Math.abs(mean(gold.map((v, i) => v * silver[i]!)))).toBeLessThan(0.03);
  expect(Math.abs(mean(gold.slice(1).map((v, i) => v * gold[i]!)))).toBeLessThan(0.03);
});

test('exp is e^x to twelve digits', () => {
  fc.assert(
    fc.property(fc.double({ min: -5, max: 5, noNaN: true }), (x) => {
      expect(Math.abs(exp(x) / Math.exp(x) - 1)).toBeLessThan(1e-12);
    }),
  );
});
