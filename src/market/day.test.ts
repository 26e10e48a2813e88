import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  dayOf,
  FIRST_DAY,
  isWeekend,
  LAST_DAY,
  MS_PER_DAY,
  parseDay,
  printDay,
  utcDay,
  weekday,
} from './day.ts';

const anyDay = fc.integer({ min: FIRST_DAY, max: LAST_DAY });

describe('parseDay', () => {
  test('parse after print is the identity, for every day a request may name', () => {
    let previous = '';
    for (let day = FIRST_DAY; day <= LAST_DAY; day++) {
      const text = printDay(day);
      if (parseDay(text) !== day || text <= previous) throw new Error(`${day} prints as ${text}`);
      previous = text;
    }
    expect(previous).toBe('2199-12-31');
  });

  test('print after parse is the identity, for every text that parses', () => {
    const part = (width: number) =>
      fc.integer({ min: 0, max: 10 ** width - 1 }).map((n) => String(n).padStart(width, '0'));
    const year = fc.integer({ min: 1890, max: 2210 }).map(String);
    const text = fc
      .tuple(fc.oneof(year, part(4)), fc.oneof(part(2), fc.constantFrom('02', '12')), part(2))
      .map((parts) => parts.join('-'));
    fc.assert(
      fc.property(text, (asked) => {
        const day = parseDay(asked);
        if (day !== undefined) expect(printDay(day)).toBe(asked);
        expect(day !== undefined).toBe(existsByCounting(asked));
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    ['1970-01-01', 0],
    ['1969-12-31', -1],
    ['2000-02-29', 11_016],
    ['2020-04-20', 18_372],
    ['1900-01-01', -25_567],
  ])('%s is day %i', (text, day) => {
    expect(parseDay(text)).toBe(day);
  });

  test.each([
    '2023-02-29',
    '1900-02-29',
    '2100-02-29',
    '2024-04-31',
    '2024-13-01',
    '2024-00-10',
    '2024-01-00',
    '1899-12-31',
    '2200-01-01',
    '0020-04-20',
    '2024-1-1',
    '24-01-01',
    ' 2024-01-01',
    '2024-01-01 ',
    '2024-01-01\n',
    '2024-01-01T00:00:00Z',
    '20240101',
    '2024/01/01',
    '+2024-01-01',
    '-2024-01-01',
    '٢٠٢٤-٠١-٠١',
    '',
  ])('%j is no day', (text) => {
    expect(parseDay(text)).toBeUndefined();
  });

  test('no text makes it throw', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const day = parseDay(text);
        if (day !== undefined) expect(printDay(day)).toBe(text);
      }),
    );
  });
});

describe('dayOf', () => {
  test('a two-digit year is not taken for one of the 1900s', () => {
    expect(dayOf(99, 1, 1)).toBeUndefined();
    expect(dayOf(0, 1, 1)).toBeUndefined();
  });

  test('agrees with the printed day', () => {
    fc.assert(
      fc.property(anyDay, (day) => {
        const [year, month, dayOfMonth] = printDay(day).split('-').map(Number);
        expect(dayOf(year!, month!, dayOfMonth!)).toBe(day);
      }),
    );
  });
});

test('a day outside the range still prints', () => {
  expect(printDay(FIRST_DAY - 1)).toBe('1899-12-31');
  expect(printDay(LAST_DAY + 1)).toBe('2200-01-01');
  expect(printDay(FIRST_DAY - 1)).toBe('1899-12-31');
});

test('the UTC day of an instant holds from its midnight to the last millisecond', () => {
  fc.assert(
    fc.property(anyDay, fc.integer({ min: 0, max: MS_PER_DAY - 1 }), (day, ms) => {
      expect(utcDay(day * MS_PER_DAY + ms)).toBe(day);
    }),
  );
});

test('weekdays follow one another, before 1970 too, and Saturday and Sunday are the weekend', () => {
  const names = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
  fc.assert(
    fc.property(anyDay, (day) => {
      const name = new Date(day * MS_PER_DAY).toUTCString().slice(0, 3);
      expect(names[weekday(day)]).toBe(name);
      expect(isWeekend(day)).toBe(name === 'Sat' || name === 'Sun');
    }),
  );
});

/** The calendar's rule, written out. */
function existsByCounting(text: string): boolean {
  const [year, month, day] = text.split('-').map(Number) as [number, number, number];
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const lengths = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  const inRange = year >= 1900 && year <= 2199;
  return inRange && month >= 1 && month <= 12 && day >= 1 && day <= lengths[month - 1]!;
}
