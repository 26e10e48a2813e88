import { expect, test } from 'bun:test';
import { lateAfter, nextSlot, retryAt } from './schedule.ts';

const ECB = { schedule: '30 16 * * 1-5', zone: 'Europe/Berlin' };
const at = (text: string) => Date.parse(text);
const MINUTE = 60_000;

test.each([
  ['in summer', '2026-07-15T00:00:00Z', '2026-07-15T14:30:00Z'],
  ['in winter', '2026-01-14T00:00:00Z', '2026-01-14T15:30:00Z'],
  ['at the slot itself: the next', '2026-07-15T14:30:00Z', '2026-07-16T14:30:00Z'],
  ['over a weekend in which the clocks change', '2026-03-27T16:00:00Z', '2026-03-30T14:30:00Z'],
  ['and back', '2026-10-23T15:00:00Z', '2026-10-26T15:30:00Z'],
])('the next slot goes by the clock of the zone: %s', (_, after, slot) => {
  expect(nextSlot(ECB, at(after))).toBe(at(slot));
});

test('a slot in the hour that daylight saving time skips still occurs once that day', () => {
  const night = { schedule: '30 2 * * *', zone: 'Europe/Berlin' };
  const first = nextSlot(night, at('2026-03-28T12:00:00Z'));
  expect(first).toBeLessThan(at('2026-03-29T12:00:00Z'));
  expect(nextSlot(night, first)).toBe(at('2026-03-30T00:30:00Z'));
});

test('a schedule that never matches, or is invalid, is rejected', () => {
  expect(() => nextSlot({ schedule: '0 0 30 2 *', zone: 'UTC' }, 0)).toThrow('never matches');
  expect(() => nextSlot({ schedule: 'daily', zone: 'UTC' }, 0)).toThrow();
});

test('a feed is late after its second missed slot plus the time a run may take', () => {
  expect(lateAfter(ECB, at('2026-07-17T15:00:00Z'))).toBe(at('2026-07-21T14:40:00Z')); // Friday: Monday, Tuesday
});

test('a failure is retried with exponential backoff, at the latest at the next slot', () => {
  const now = at('2026-07-15T14:30:00Z');
  const minutes = (failures: number, comeBackMs = 0, random = 0) =>
    (retryAt(ECB, now, failures, comeBackMs, random) - now) / MINUTE;
  expect([1, 2, 3, 4, 5, 6, 99].map((failures) => minutes(failures))).toEqual([
    15, 30, 60, 120, 240, 240, 240,
  ]);
  expect(minutes(1, 0, 1)).toBe(18.75);
  expect(minutes(1, 90 * MINUTE)).toBe(90);
  expect(minutes(1, 5 * 24 * 60 * MINUTE)).toBe(5 * 24 * 60);
  expect(minutes(1, 999_999_999_000)).toBe(7 * 24 * 60); // a pause of 31 years is not believed
  const often = { schedule: '*/5 * * * *', zone: 'UTC' };
  expect(retryAt(often, now, 9, 0, 0)).toBe(now + 5 * MINUTE);
});

test('the time of a retry is in whole milliseconds, as in the ledger', () => {
  const now = at('2026-07-15T14:30:00Z');
  for (const random of [0.1, 0.123_456_789, 0.9]) {
    expect(retryAt(ECB, now, 1, 0, random) % 1).toBe(0);
    expect(retryAt(ECB, now, 1, 90 * MINUTE + random, random) % 1).toBe(0);
  }
});
