import { expect, test } from 'bun:test';
import { FUZZED, fuzzFeed } from '../../../test/support/feeds/fuzzed-feeds.ts';

/** A few hundred bodies in a usual run; OPENPIT_FUZZ_RUNS for more. */
const RUNS = Number(process.env.OPENPIT_FUZZ_RUNS ?? 300);

test.each(FUZZED)(
  'fuzzed bodies of %s never crash it and never give a bad row',
  (name) => {
    const { taken, refused } = fuzzFeed(name, RUNS);
    expect(taken).toBeGreaterThan(0); // else nothing but the refusals is tried
    expect(refused).toBeGreaterThan(0);
  },
  3_600_000,
);
