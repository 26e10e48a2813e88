import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { MS_PER_DAY, parseDay } from './day.ts';
import { MARKETS } from './session.ts';
import { instantOf, zoneOffset } from './zone.ts';

const HOUR_MS = 3_600_000;
const ZONES = [...new Set(Object.values(MARKETS).map((market) => market.zone))];

const zone = fc.constantFrom(...ZONES);
const instant = fc.integer({ min: Date.UTC(1970, 0, 1), max: Date.UTC(2199, 11, 31) });

describe('zoneOffset', () => {
  test('is the offset that the zone itself prints', () => {
    fc.assert(
      fc.property(zone, instant, (name, ms) => {
        expect(zoneOffset(name, ms)).toBe(printedOffset(name, ms));
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['America/New_York', '2026-03-08T06:59:59.999Z', -5],
    ['America/New_York', '2026-03-08T07:00:00Z', -4],
    ['America/New_York', '2026-11-01T05:59:59.999Z', -4],
    ['America/New_York', '2026-11-01T06:00:00Z', -5],
    ['America/Chicago', '2026-03-08T07:59:59.999Z', -6],
    ['America/Chicago', '2026-03-08T08:00:00Z', -5],
    ['America/Chicago', '2026-11-01T06:59:59.999Z', -5],
    ['America/Chicago', '2026-11-01T07:00:00Z', -6],
    ['Europe/London', '2026-03-29T00:59:59.999Z', 0],
    ['Europe/London', '2026-03-29T01:00:00Z', 1],
    ['Europe/London', '2026-10-25T00:59:59.999Z', 1],
    ['Europe/London', '2026-10-25T01:00:00Z', 0],
    ['Asia/Shanghai', '2026-07-01T00:00:00Z', 8],
    ['UTC', '2026-07-01T00:00:00Z', 0],
  ])('in %s at %s it is %i hours', (name, at, hours) => {
    expect(zoneOffset(name, Date.parse(at))).toBe(hours * HOUR_MS);
  });

  test('a zone that does not exist is an error that names it', () => {
    expect(() => zoneOffset('Mars/Olympus', 0)).toThrow('Mars/Olympus');
  });
});

describe('instantOf', () => {
  test('finds an instant that shows the asked time, for every time that exists on that day', () => {
    fc.assert(
      fc.property(zone, instant, (name, ms) => {
        const wall = ms + zoneOffset(name, ms); // a time that exists: some instant shows it
        const day = Math.floor(wall / MS_PER_DAY);
        const found = instantOf(name, day, wall - day * MS_PER_DAY);
        expect(found + zoneOffset(name, found)).toBe(wall);
      }),
      { numRuns: 500 },
    );
  });

  test('finds it also within a day of every clock change', () => {
    const changes = ['2026-03-08', '2026-03-29', '2026-10-25', '2026-11-01'].map((text) => parseDay(text)!);
    for (const name of ZONES) {
      for (const change of changes) {
        const from = (change - 1) * MS_PER_DAY;
        for (let ms = from; ms < from + 3 * MS_PER_DAY; ms += HOUR_MS / 4) {
          const wall = ms + zoneOffset(name, ms);
          const day = Math.floor(wall / MS_PER_DAY);
          const found = instantOf(name, day, wall - day * MS_PER_DAY);
          if (found + zoneOffset(name, found) !== wall) {
            throw new Error(`${name}: asked for ${new Date(wall).toISOString()}, got ${found}`);
          }
          // An hour that comes twice has two answers; every other has one.
          expect([0, HOUR_MS]).toContain(Math.abs(found - ms));
        }
      }
    }
  });

  test('a time that the clock jumps over is within an hour of the jump', () => {
    const day = parseDay('2026-03-08')!;
    const jump = Date.parse('2026-03-08T07:00:00Z');
    const found = instantOf('America/New_York', day, 2.5 * HOUR_MS);
    expect(Math.abs(found - jump)).toBeLessThanOrEqual(HOUR_MS);
  });
});

/** The offset as the platform spells it, such as "GMT-04:00". */
function printedOffset(name: string, ms: number): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    timeZoneName: 'longOffset',
  }).formatToParts(ms);
  const text = parts.find((part) => part.type === 'timeZoneName')!.value;
  const [, sign, hours, minutes] = /^GMT(?:([+-])(\d\d):(\d\d))?$/.exec(text)!;
  return sign === undefined ? 0 : (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}
