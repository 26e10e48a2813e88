import { expect, test } from 'bun:test';
import { WorkMonitor } from './work-monitor.ts';

function watched() {
  const clock = { time: 0, now: () => clock.time };
  const watch = new WorkMonitor(clock, { failingMs: 10_000, silentMs: 60_000 });
  watch.start();
  return { clock, watch };
}

test('work that keeps failing is trouble since its first failure, until it succeeds', () => {
  const { clock, watch } = watched();
  clock.time = 1_000;
  watch.failed('first');
  clock.time = 10_999;
  watch.failed('last');
  expect(watch.trouble).toBeUndefined();
  clock.time = 11_000;
  expect(watch.trouble).toEqual({ since: 1_000, reason: 'last' });
  watch.succeeded();
  expect(watch.trouble).toBeUndefined();
});

test('work that fails now and then is no trouble', () => {
  const { clock, watch } = watched();
  for (let i = 0; i < 50; i++) {
    clock.time += 9_000;
    watch.failed('a blip');
    clock.time += 9_000;
    expect(watch.trouble).toBeUndefined();
    watch.succeeded();
  }
});

test('work that never ends is trouble since it last succeeded', () => {
  const { clock, watch } = watched();
  clock.time = 60_000;
  expect(watch.trouble).toEqual({ since: 0, reason: 'it does not finish' });
});

test('after an outage of something else it has its full time again', () => {
  const { clock, watch } = watched();
  watch.failed('no ledger');
  clock.time = 30_000;
  watch.forgive();
  clock.time = 39_999;
  expect(watch.trouble).toBeUndefined();
  clock.time = 40_000;
  expect(watch.trouble).toMatchObject({ since: 30_000 });
});
