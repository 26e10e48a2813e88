import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { derivedFrom, meanClose } from '../../../test/support/exact/derived-rows.ts';
import { parseDay } from '../day.ts';
import { INTERVALS, laterInterval } from '../interval.ts';
import { Closes, type Derivation, ROWS_BACK_MAX, rowsBack } from './closes.ts';

const START = parseDay('2001-01-01')!;

/** Rows of an interval with gaps. */
const rows = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: -500, max: 5_000 })), {
    minLength: 1,
    maxLength: 60,
  })
  .map((steps) => {
    let at = 0;
    return steps.map(([gap, cents]) => {
      at += gap;
      return { at, close: cents / 100 };
    });
  });

function derivation(rest: Partial<Derivation>): Derivation {
  return { transform: undefined, period: 1, moving: undefined, ...rest };
}

test('a change compares with the close `period` intervals earlier: rows for days, the calendar otherwise', () => {
  fc.assert(
    fc.property(
      rows,
      fc.constantFrom(...INTERVALS),
      fc.integer({ min: 1, max: 12 }),
      (all, interval, period) => {
        const closes = new Closes(derivation({ transform: 'change', period }), interval, DECIMALS);
        all.forEach(({ at, close }, i) => {
          closes.add({ day: laterInterval(interval, START, at), close });
          const earlier = interval === 'day' ? all[i - period] : all.find((row) => row.at === at - period);
          const expected = earlier && derivedFrom('change', earlier.close, close);
          expect(closes.transformed()).toBe(expected === undefined ? undefined : String(expected));
        });
      },
    ),
  );
});

test('a moving average is the mean of the last closes, once there are enough', () => {
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 20 }), (all, moving) => {
      const closes = new Closes(derivation({ moving }), 'day', DECIMALS);
      all.forEach(({ at, close }, i) => {
        closes.add({ day: START + at, close });
        const last = all.slice(Math.max(0, i - moving + 1), i + 1).map((row) => row.close);
        expect(closes.movingAverage()).toBe(last.length < moving ? undefined : meanClose(last, 2));
      });
    }),
  );
});

test('an index starts at its first close, or at the base it is given', () => {
  const given = new Closes(derivation({ transform: 'index' }), 'day', DECIMALS, 50);
  const own = new Closes(derivation({ transform: 'index' }), 'day', DECIMALS);
  const found: unknown[] = [];
  for (const [at, close] of [20, 30, 10].entries()) {
    given.add({ day: START + at, close });
    own.add({ day: START + at, close });
    found.push([given.transformed(), own.transformed()]);
  }
  expect(found).toEqual([
    ['40', '100'],
    ['60', '150'],
    ['20', '50'],
  ]);
});

test('however long a series is, only the rows that the longest period needs are kept', () => {
  const spec = derivation({ transform: 'change', period: ROWS_BACK_MAX, moving: ROWS_BACK_MAX });
  const closes = new Closes(spec, 'day', DECIMALS);
  for (let i = 0; i < 3_000; i++) {
    closes.add({ day: START + i, close: i });
    if (i >= ROWS_BACK_MAX) expect(closes.transformed()).toBe(String(ROWS_BACK_MAX));
  }
  expect(closes.movingAverage()).toBe(2_999 - (ROWS_BACK_MAX - 1) / 2);
  expect(rowsBack(spec)).toBe(ROWS_BACK_MAX);
  expect(rowsBack(derivation({ transform: 'index' }))).toBe(0);
});

const DECIMALS = 2;
