import { describe, expect, test } from 'bun:test';
import { MISTAKES } from './mistakes.ts';
import { MIXES } from './mixes.ts';
import { simulate } from './simulate.ts';

/** Not every run gets into the situation in which a mistake does harm. */
const SEEDS_MAX = 30;

describe('the simulator notices when', () => {
  for (const { name, mix: mixName, plant } of MISTAKES) {
    test(name, async () => {
      const mix = MIXES.find((one) => one.name === mixName)!;
      const restore = plant();
      try {
        expect(await findsViolation(mix)).toBe(true);
      } finally {
        restore();
      }
    }, 240_000);
  }
});

async function findsViolation(mix: (typeof MIXES)[number]): Promise<boolean> {
  for (let seed = 1; seed <= SEEDS_MAX; seed++) {
    const violations = await simulate(seed, mix).then(
      (outcome) => outcome.violations,
      (error) => [String(error)],
    );
    if (violations.length > 0) return true;
  }
  return false;
}
