import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { MS_PER_DAY } from './day.ts';
import { MARKETS, marketOf, sessionEnd } from './session.ts';
import { barSeenFrom, isBarSeen, tickSeenFrom } from './visibility.ts';

const ms = fc.integer({ min: 0, max: 100 });
const delay = fc.integer({ min: 0, max: 60 });

test('a tick is visible at t with delay d when max(at, received) ≤ t − d', () => {
  fc.assert(
    fc.property(ms, ms, ms, delay, (at, received, t, d) => {
      const visible = tickSeenFrom({ at, received }) <= t - d;
      expect(visible).toBe(at <= t - d && received <= t - d);
    }),
  );
});

test('a bar revision is visible at t with delay d when its session ended, or it was recorded, by t − d', () => {
  fc.assert(
    fc.property(ms, ms, ms, delay, (sessionEnd, recordedAt, t, d) => {
      const visible = barSeenFrom(sessionEnd, recordedAt) <= t - d;
      expect(visible).toBe(sessionEnd <= t - d || recordedAt <= t - d);
    }),
  );
});

test('whether a bar is seen, and from when on, are told alike', () => {
  const market = fc.constantFrom(...Object.keys(MARKETS)).map(marketOf);
  const near = fc.integer({ min: -3 * MS_PER_DAY, max: 3 * MS_PER_DAY });
  fc.assert(
    fc.property(
      market,
      fc.integer({ min: -20_000, max: 60_000 }),
      near,
      near,
      (own, day, recorded, looked) => {
        const end = sessionEnd(own, day);
        const [recordedAt, horizon] = [end + recorded, end + looked];
        const seen = barSeenFrom(end, recordedAt) <= horizon;
        expect(isBarSeen({ day, recordedAt }, own, horizon)).toBe(seen);
      },
    ),
    { numRuns: 500 },
  );
});

test('old history that is imported now shows at once, whatever the delay', () => {
  const now = 1_000_000;
  expect(barSeenFrom(now - 500_000, now)).toBeLessThanOrEqual(now - 3_600);
});

test('a settlement that is recorded as it happens shows one delay later', () => {
  expect(barSeenFrom(1_000, 1_000)).toBe(1_000);
});

test('a tick that came late, or was sent ahead of its time, shows at the later moment', () => {
  expect(tickSeenFrom({ at: 10, received: 90 })).toBe(90);
  expect(tickSeenFrom({ at: 90, received: 10 })).toBe(90);
});
