import { expect, test } from 'bun:test';
import { LoopMonitor } from './loop-monitor.ts';

/** A monitor at 1,000 ms, with a clock that the test controls. */
function monitor() {
  const clock = { ms: 1_000 };
  return { clock, loop: new LoopMonitor(() => clock.ms) };
}

test('bytes read while the loop keeps up have just arrived', () => {
  const { clock, loop } = monitor();
  clock.ms = 1_012;
  expect(loop.arrivalMs()).toBe(1_012);
  loop.beat();
  clock.ms = 1_024;
  expect(loop.arrivalMs()).toBe(1_024);
});

test('bytes that waited while the loop was blocked arrived when it last ran', () => {
  const { clock, loop } = monitor();
  clock.ms = 20_400;
  expect(loop.arrivalMs()).toBe(1_000);
});

test('a timer that runs before the sockets are read does not hide the pause', async () => {
  const { clock, loop } = monitor();
  clock.ms = 20_400;
  loop.beat();
  expect(loop.arrivalMs()).toBe(1_000);
  await new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))));
  expect(loop.arrivalMs()).toBe(20_400);
});

test('every lag is counted, and the longest is reported once', () => {
  const { clock, loop } = monitor();
  for (const ms of [1_010, 1_020, 3_530]) {
    clock.ms = ms;
    loop.beat();
  }
  expect(loop.lag.count).toBe(3);
  expect(loop.lag.sumMs).toBe(2_500);
  expect(loop.takeLagMsMax()).toBe(2_500);
  expect(loop.takeLagMsMax()).toBe(0);
});
