import { expect, test } from 'bun:test';
import { WorkMonitor } from './work-monitor.ts';

function monitored() {
  const clock = { time: 0, now: () => clock.time };
  const monitor = new WorkMonitor(clock, { failingMs: 10_000, silentMs: 60_000 });
  monitor.start();
  return { clock, monitor };
}

test('work that keeps failing is a fault since its last success, until it succeeds again', () => {
  const { clock, monitor } = monitored();
  clock.time = 1_000;
  monitor.failed('first');
  clock.time = 10_999;
  monitor.failed('last');
  expect(monitor.fault).toBeUndefined();
  clock.time = 11_000;
  expect(monitor.fault).toEqual({ since: 0, reason: 'last' });
  monitor.succeeded();
  expect(monitor.fault).toBeUndefined();
});

test('work that fails now and then is not a fault', () => {
  const { clock, monitor } = monitored();
  for (let i = 0; i < 50; i++) {
    clock.time += 9_000;
    monitor.failed('a blip');
    clock.time += 9_000;
    expect(monitor.fault).toBeUndefined();
    monitor.succeeded();
  }
});

test('work that never finishes is a fault since its last success', () => {
  const { clock, monitor } = monitored();
  clock.time = 60_000;
  expect(monitor.fault).toEqual({ since: 0, reason: 'it does not finish' });
});

test('after a restart the work has its full time again', () => {
  const { clock, monitor } = monitored();
  monitor.failed('no ledger');
  clock.time = 30_000;
  monitor.restart();
  clock.time = 39_999;
  expect(monitor.fault).toBeUndefined();
  clock.time = 40_000;
  expect(monitor.fault).toMatchObject({ since: 30_000 });
});

test('a fault keeps its time, so that it is one alarm, while the clocks drift and silence turns into failures', () => {
  const clock = { wall: 5_000, monotonic: 0, now: () => clock.wall, elapsed: () => clock.monotonic };
  const monitor = new WorkMonitor(clock, { failingMs: 10_000, silentMs: 60_000 });
  monitor.start();
  const times = new Set<number>();
  for (let i = 0; i < 40; i++) {
    clock.monotonic += 4_000;
    clock.wall += 4_001; // the wall clock is being adjusted
    if (i === 20) monitor.failed('at last an error');
    const { fault } = monitor;
    if (fault) times.add(fault.since);
  }
  expect([...times]).toEqual([5_000]);
});
