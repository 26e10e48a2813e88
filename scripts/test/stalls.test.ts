import { expect, test } from 'bun:test';
import { StallMonitor } from './stalls.ts';

test('a timer that is late by half a second or more is a stall, and counts from then on', () => {
  let now = 0;
  const monitor = new StallMonitor(() => now);
  const tickAt = (ms: number) => {
    now = ms;
    monitor.tick();
  };
  for (const ms of [100, 205, 650]) tickAt(ms); // late, but not for long
  expect(monitor.longestSince(0)).toBe(0);
  tickAt(1_500);
  tickAt(4_100);
  expect(monitor.longestSince(0)).toBe(2_500);
  expect(monitor.longestSince(1_500)).toBe(2_500);
  expect(monitor.longestSince(4_100)).toBe(0);
});
