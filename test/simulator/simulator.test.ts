import { describe, expect, test } from 'bun:test';
import { MIXES } from './mixes.ts';
import { simulate } from './simulate.ts';

/** 16 mixes: 32 runs in total. `bun scripts/simulate.ts` runs any number. */
const SEEDS = 2;

describe('the quota is never exceeded, and `used` equals what was answered', () => {
  for (const mix of MIXES) {
    test(`with ${mix.name}`, async () => {
      for (let seed = 1; seed <= SEEDS; seed++) {
        const { violations } = await simulate(seed, mix);
        expect(violations.map((line) => `seed ${seed}: ${line}`)).toEqual([]);
      }
    }, 240_000);
  }
});

test('a run depends only on its seed', async () => {
  const mix = MIXES.at(-1)!;
  const [first, second] = [await simulate(7, mix), await simulate(7, mix)];
  expect(second).toEqual(first);
});

test('a start whose first ledger call hangs is abandoned and repeated', async () => {
  // In this run the only remaining machine hung in its start, and nobody released the leases of a lost host.
  const { violations } = await simulate(123, MIXES.find(({ name }) => name === 'lost hosts')!);
  expect(violations).toEqual([]);
}, 180_000);
