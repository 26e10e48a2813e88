import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ClockSteps } from './clock-steps.ts';

const MINUTE = 60_000;
const DELAYS = [0, MINUTE, 10 * MINUTE, 60 * MINUTE];

function clockAt(start: number) {
  const clock = {
    passed: 0,
    setBy: 0,
    now: () => start + clock.passed + clock.setBy,
    elapsed: () => clock.passed,
  };
  return clock;
}

const step = fc.oneof(
  fc.record({ wait: fc.integer({ min: 0, max: 40 * MINUTE }) }),
  fc.record({ set: fc.integer({ min: -1_500 * MINUTE, max: 1_500 * MINUTE }) }),
);

test('whatever happens to the wall clock, no price is visible sooner than its delay after its timestamp', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const clock = clockAt(1_700_000_000_000);
      const seen = new ClockSteps(clock);
      const stamped: { stamp: number; at: number }[] = [];
      for (const one of steps) {
        if ('wait' in one) clock.passed += one.wait;
        else clock.setBy += one.set;
        seen.check(DELAYS.at(-1)!);
        stamped.push({ stamp: clock.now(), at: clock.passed });
        for (const delay of DELAYS) {
          const horizon = clock.now() - seen.lagMs(delay);
          for (const { stamp, at } of stamped)
            if (stamp <= horizon) expect(clock.passed - at).toBeGreaterThanOrEqual(delay);
        }
      }
    }),
    { numRuns: 500 },
  );
});

test('delays stay the same while nobody sets the clock', () => {
  const clock = clockAt(0);
  const seen = new ClockSteps(clock);
  for (let i = 0; i < 1_000; i++) {
    clock.passed += 997;
    expect(seen.check(60 * MINUTE)).toBe(false);
  }
  expect(DELAYS.map((delay) => seen.lagMs(delay))).toEqual(DELAYS);
});

test('each view follows a step forward once its own delay has passed', () => {
  const clock = clockAt(0);
  const seen = new ClockSteps(clock);
  clock.passed += 60 * MINUTE;
  clock.setBy = 24 * 60 * MINUTE;
  const held = () => {
    seen.check(60 * MINUTE);
    return DELAYS.map((delay) => seen.lagMs(delay) - delay > 0);
  };
  expect(held()).toEqual([false, true, true, true]);
  clock.passed += MINUTE;
  expect(held()).toEqual([false, false, true, true]);
  clock.passed += 9 * MINUTE;
  expect(held()).toEqual([false, false, false, true]);
  clock.passed += 50 * MINUTE;
  expect(held()).toEqual([false, false, false, false]);
  expect(seen.check(60 * MINUTE)).toBe(false); // the step is forgotten
});
