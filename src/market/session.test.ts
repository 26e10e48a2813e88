import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { FIRST_DAY, isWeekend, MS_PER_DAY, parseDay, printDay } from './day.ts';
import {
  hasEnded,
  isTrading,
  MARKETS,
  marketOf,
  sessionEnd,
  sessionStart,
  tradeDate,
  tradingHours,
} from './session.ts';
import { instantOf, QUARTER_MS, zoneOffset } from './zone.ts';

const MINUTE_MS = 60_000;
const keys = Object.keys(MARKETS);
const anyMarket = fc.constantFrom(...keys).map(marketOf);
const tradingDay = fc
  .integer({ min: parseDay('1970-01-05')!, max: parseDay('2199-12-30')! })
  .filter((day) => !isWeekend(day));

describe('the trade date of an instant', () => {
  // In 2026 the US changes its clocks on 8 March and 1 November, the UK on 29 March and 25 October.
  test.each([
    // 22:30 UTC is before the evening opening in New York's winter and after it in summer
    ['NYMEX', '2026-03-04T22:30:00Z', '2026-03-04'],
    ['NYMEX', '2026-03-11T22:30:00Z', '2026-03-12'],
    ['NYMEX', '2026-10-28T22:30:00Z', '2026-10-29'],
    ['NYMEX', '2026-11-04T22:30:00Z', '2026-11-04'],
    // to the millisecond
    ['COMEX', '2026-07-01T21:59:59.999Z', '2026-07-01'],
    ['COMEX', '2026-07-01T22:00:00.000Z', '2026-07-02'],
    ['COMEX', '2026-01-06T22:59:59.999Z', '2026-01-06'],
    ['COMEX', '2026-01-06T23:00:00.000Z', '2026-01-07'],
    // Chicago opens at 19:00, which is 00:00 or 01:00 UTC of the next day
    ['CBOT', '2026-03-06T00:30:00Z', '2026-03-05'],
    ['CBOT', '2026-03-10T00:30:00Z', '2026-03-10'],
    ['CBOT', '2026-10-30T00:30:00Z', '2026-10-30'],
    ['CBOT', '2026-11-04T00:30:00Z', '2026-11-03'],
    // London goes by its own midnight, and changes its clocks in other weeks than the US
    ['LME', '2026-03-24T23:30:00Z', '2026-03-24'],
    ['LME', '2026-03-31T23:30:00Z', '2026-04-01'],
    ['LME', '2026-10-21T23:30:00Z', '2026-10-22'],
    ['LME', '2026-10-28T23:30:00Z', '2026-10-28'],
    ['ICE-EU', '2026-03-10T23:30:00Z', '2026-03-10'],
    ['ICE-EU', '2026-06-10T23:30:00Z', '2026-06-11'],
    // Sunday evening is Monday's, on the very evening of a clock change too
    ['NYMEX', '2026-03-08T21:30:00Z', '2026-03-09'],
    ['NYMEX', '2026-03-08T22:00:00Z', '2026-03-09'],
    ['NYMEX', '2026-11-01T23:00:00Z', '2026-11-02'],
    ['CBOT', '2026-11-02T01:00:00Z', '2026-11-02'],
    // Friday after the opening hour, and the weekend, are Monday's; Friday before it is Friday's
    ['NYMEX', '2026-07-10T21:59:00Z', '2026-07-10'],
    ['NYMEX', '2026-07-10T22:00:00Z', '2026-07-13'],
    ['NYMEX', '2026-07-11T12:00:00Z', '2026-07-13'],
    ['CBOT', '2026-07-10T23:59:59Z', '2026-07-10'],
    ['CBOT', '2026-07-11T00:00:00Z', '2026-07-13'],
    ['LME', '2026-07-10T22:59:59Z', '2026-07-10'],
    ['LME', '2026-07-10T23:00:00Z', '2026-07-13'],
    ['SHFE', '2026-07-10T13:30:00Z', '2026-07-13'],
    ['SPOT', '2026-07-12T23:59:59Z', '2026-07-13'],
    // a new year's eve
    ['NYMEX', '2025-12-31T23:30:00Z', '2026-01-01'],
  ])('on %s at %s is %s', (market, at, day) => {
    expect(printDay(tradeDate(marketOf(market), Date.parse(at)))).toBe(day);
  });

  test('is that of the session it lies in, from the first millisecond to the last', () => {
    fc.assert(
      fc.property(anyMarket, tradingDay, fc.double({ min: 0, max: 1, noNaN: true }), (market, day, share) => {
        const start = sessionStart(market, day);
        const end = sessionEnd(market, day);
        const within = start + Math.floor((end - 1 - start) * share);
        for (const ms of [start, within, end - 1]) expect(tradeDate(market, ms)).toBe(day);
      }),
      { numRuns: 500 },
    );
  });

  test('is over at its end and not a millisecond sooner, however long ago', () => {
    fc.assert(
      fc.property(
        anyMarket,
        tradingDay,
        fc.integer({ min: 0, max: 3 * MS_PER_DAY }),
        (market, day, after) => {
          const end = sessionEnd(market, day);
          expect(hasEnded(market, day, end + after)).toBe(true);
          expect(hasEnded(market, day, end - 1 - after)).toBe(false);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('is never in a weekend, and never goes back as time goes on', () => {
    const instant = fc.integer({ min: 0, max: Date.UTC(2199, 11, 31) });
    const step = fc.oneof(fc.integer({ min: 0, max: 120 * MINUTE_MS }), fc.integer({ min: 0, max: 1e9 }));
    fc.assert(
      fc.property(anyMarket, instant, step, (market, ms, later) => {
        const day = tradeDate(market, ms);
        expect(isWeekend(day)).toBe(false);
        expect(tradeDate(market, ms + later)).toBeGreaterThanOrEqual(day);
      }),
      { numRuns: 500 },
    );
  });

  test('moves on through both clock changes, hour by hour, without a step back', () => {
    for (const key of keys) {
      for (const sunday of ['2026-03-08', '2026-03-29', '2026-10-25', '2026-11-01']) {
        const noon = Date.parse(`${sunday}T12:00:00Z`);
        let last = FIRST_DAY;
        for (let minutes = -3 * 1_440; minutes <= 3 * 1_440; minutes += 15) {
          const day = tradeDate(marketOf(key), noon + minutes * MINUTE_MS);
          if (day < last) throw new Error(`${key} went back to ${printDay(day)} at ${minutes} minutes`);
          last = day;
        }
        expect(printDay(last) > sunday).toBe(true);
      }
    }
  });

  test('is the same for a quarter of an hour: no market opens within one, and no day begins there', () => {
    fc.assert(
      fc.property(anyMarket, tradingDay, (market, day) => {
        expect(sessionStart(market, day) % QUARTER_MS).toBe(0);
        expect(instantOf(market.zone, day, 0) % QUARTER_MS).toBe(0);
      }),
    );
  });
});

describe('a session', () => {
  test.each([
    ['NYMEX', '2026-03-06', '2026-03-05T23:00:00Z', '2026-03-06T22:00:00Z'],
    ['NYMEX', '2026-03-09', '2026-03-08T22:00:00Z', '2026-03-09T21:00:00Z'],
    ['NYMEX', '2026-10-30', '2026-10-29T22:00:00Z', '2026-10-30T21:00:00Z'],
    ['NYMEX', '2026-11-02', '2026-11-01T23:00:00Z', '2026-11-02T22:00:00Z'],
    ['CBOT', '2026-03-06', '2026-03-06T01:00:00Z', '2026-03-06T19:20:00Z'],
    ['CBOT', '2026-03-09', '2026-03-09T00:00:00Z', '2026-03-09T18:20:00Z'],
    ['CBOT', '2026-11-02', '2026-11-02T01:00:00Z', '2026-11-02T19:20:00Z'],
    ['LME', '2026-03-27', '2026-03-27T01:00:00Z', '2026-03-27T19:00:00Z'],
    ['LME', '2026-03-30', '2026-03-30T00:00:00Z', '2026-03-30T18:00:00Z'],
    ['LME', '2026-10-26', '2026-10-26T01:00:00Z', '2026-10-26T19:00:00Z'],
    ['ICE-US', '2026-03-09', '2026-03-09T07:30:00Z', '2026-03-09T18:20:00Z'],
    ['BURSA', '2026-03-09', '2026-03-09T02:30:00Z', '2026-03-09T10:00:00Z'],
    ['SPOT', '2026-03-09', '2026-03-09T00:00:00Z', '2026-03-10T00:00:00Z'],
  ])('of %s on %s is from %s to %s', (market, text, start, end) => {
    const day = parseDay(text)!;
    expect(sessionStart(marketOf(market), day)).toBe(Date.parse(start));
    expect(sessionEnd(marketOf(market), day)).toBe(Date.parse(end));
  });

  test('opens and closes at the same time on its own clock, every day of the year', () => {
    fc.assert(
      fc.property(anyMarket, tradingDay, (market, day) => {
        expect(wallTime(market.zone, sessionStart(market, day))).toBe(market.opensAt);
        expect(wallTime(market.zone, sessionEnd(market, day))).toBe(market.closesAt.replace('24:', '00:'));
      }),
      { numRuns: 500 },
    );
  });

  test('ends after it starts, and not after the next one starts', () => {
    fc.assert(
      fc.property(anyMarket, tradingDay, (market, day) => {
        expect(sessionStart(market, day)).toBeLessThan(sessionEnd(market, day));
        expect(sessionEnd(market, day)).toBeLessThanOrEqual(sessionStart(market, day + 1));
      }),
      { numRuns: 500 },
    );
  });
});

test('a market that is not known is an error that lists those that are', () => {
  expect(() => marketOf('MOON')).toThrow(/"MOON".*NYMEX/);
});

test('the name of an inherited object property is not a market', () => {
  expect(() => marketOf('constructor')).toThrow('constructor');
  expect(() => marketOf('__proto__')).toThrow('__proto__');
});

function wallTime(zone: string, ms: number): string {
  return new Date(ms + zoneOffset(zone, ms)).toISOString().slice(11, 16);
}

describe('trading hours', () => {
  /** The trading hours of a trade date, as a clock eight hours ahead of UTC shows them. */
  const hoursOf = (market: string, day: string) => {
    const print = (ms: number) => new Date(ms + 8 * 3_600_000).toISOString().slice(5, 16);
    const hours = tradingHours(marketOf(market), parseDay(day)!);
    return hours.map(({ start, end }) => `${print(start)} to ${print(end)}`);
  };

  test('of Shanghai on a Monday start on Friday night, and have two breaks', () => {
    expect(hoursOf('SHFE', '2026-07-13')).toEqual([
      '07-10T21:00 to 07-10T23:00',
      '07-13T09:00 to 07-13T11:30',
      '07-13T13:30 to 07-13T15:00',
    ]);
  });

  test('of Singapore on a Monday are those of Friday night, until Saturday morning, and of the day', () => {
    expect(hoursOf('SGX', '2026-07-13')).toEqual([
      '07-10T20:15 to 07-11T05:15',
      '07-13T07:30 to 07-13T20:00',
    ]);
  });

  test('of no market are between Saturday night in London and Sunday evening in New York', () => {
    const opening = Date.parse('2026-07-12T22:00:00Z');
    for (let ms = opening - MS_PER_DAY; ms < opening; ms += QUARTER_MS) {
      expect(keys.filter((key) => isTrading(marketOf(key), ms))).toEqual([]);
    }
  });

  test.each([
    ['SHFE', '2026-07-12T14:00:00Z', false], // Sunday 22:00
    ['SHFE', '2026-07-10T14:00:00Z', true], // Friday 22:00
    ['SHFE', '2026-07-13T04:00:00Z', false], // lunch
    ['NYMEX', '2026-07-12T21:59:59Z', false],
    ['NYMEX', '2026-07-12T22:00:00Z', true], // Sunday 18:00 in New York
    ['NYMEX', '2026-07-11T15:00:00Z', false], // Saturday
    ['EURONEXT', '2026-07-13T08:44:00Z', false],
    ['EURONEXT', '2026-07-13T08:45:00Z', true],
    ['SPOT', '2026-07-11T15:00:00Z', false],
  ])('on %s at %s: %p', (market, at, expected) => {
    expect(isTrading(marketOf(market), Date.parse(at))).toBe(expected);
  });

  test('lie within the session, in order, and cover its first and last millisecond', () => {
    fc.assert(
      fc.property(anyMarket, tradingDay, (market, day) => {
        const hours = tradingHours(market, day);
        expect(hours[0]!.start).toBe(sessionStart(market, day));
        expect(hours.at(-1)!.end).toBe(sessionEnd(market, day));
        for (const [i, { start, end }] of hours.entries()) {
          expect(end).toBeGreaterThan(start);
          if (i > 0) expect(start).toBeGreaterThan(hours[i - 1]!.end);
        }
      }),
    );
  });
});
