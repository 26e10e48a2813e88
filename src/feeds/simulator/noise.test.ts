import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { exp, log, normal, seedOf, uniform } from './noise.ts';

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

test('uniform fills [0, 1) evenly: over 300 seeds, chi-square has its expected mean', () => {
  const perTenth = 300;
  const chiSquare = (seed: number) => {
    const counts = new Array<number>(10).fill(0);
    for (let n = 0; n < 10 * perTenth; n++) counts[Math.floor(uniform(seed, n) * 10)]!++;
    return counts.reduce((sum, count) => sum + (count - perTenth) ** 2 / perTenth, 0);
  };
  const found = mean(Array.from({ length: 300 }, (_, i) => chiSquare(seedOf(`seed ${i}`))));
  // Nine degrees of freedom: mean 9, deviation √18. Of a mean of 300 that is 0.245, and four of it are 0.98.
  expect(Math.abs(found - 9)).toBeLessThan(0.98);
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

test('the logarithm is that of the language, to 14 digits', () => {
  for (const x of [1e-6, 0.0731, 0.5, 0.75, 1, 1.0001, 1.5, 2, 97.3, 945_000, 1e12])
    expect(log(x)).toBeCloseTo(Math.log(x), 12);
});
