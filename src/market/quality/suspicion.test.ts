import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { findSuspicious, type SuspicionRule } from './suspicion.ts';

const METAL: SuspicionRule = { canBeZero: false, holdUnitChanges: true };
const ENERGY: SuspicionRule = { canBeZero: true, holdUnitChanges: true };

/** The closes that are held back, of bars on consecutive days. */
function held(closes: readonly number[], rule = METAL, known: readonly number[] = []): number[] {
  const bars = closes.map((close, i) => ({ day: 20_000 + i, open: close, high: close, low: close, close }));
  const before = known.map((close, i) => ({ day: 20_000 - known.length + i, close }));
  return [...findSuspicious(bars, before, rule).keys()].map((bar) => bar.close);
}

/** A random walk of `length` closes that moves by a few per cent a day. */
function walk(length: number, from = 2300, move = 0.01): number[] {
  let [close, state] = [from, 42];
  return Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    close *= 1 + move * ((state / 2 ** 31) * 2 - 1);
    return Math.round(close * 100) / 100;
  });
}

describe('a bar is held back', () => {
  test('when both neighbours contradict it, even if the next one is wrong, too', () => {
    expect(held([2313, 231_430, -5, 2300])).toEqual([231_430, -5]);
    expect(held([2313, 231_430, 231_500, 2300, 2310, 2305])).toEqual([231_430, 231_500]);
    expect(held([...walk(40), 4700, ...walk(40)])).toEqual([4700]); // twice the price, where days move by a per cent
    expect(held([...walk(40), 23.1, ...walk(40)])).toEqual([23.1]);
  });

  test('when it is the newest and too far from what the ledger has', () => {
    expect(held([7100], METAL, walk(40))).toEqual([7100]);
    expect(held([2350], METAL, walk(40))).toEqual([]);
    expect(held([231_430, 2313, 2300, 2310])).toEqual([231_430]); // or the first of all
  });

  test('when it corrects a price that stands alone by an order of magnitude', () => {
    const correct = (to: number) =>
      findSuspicious([{ day: 1, open: to, high: to, low: to, close: to }], [{ day: 1, close: 2300 }], METAL)
        .size;
    expect([correct(2400), correct(231_000), correct(25_000)]).toEqual([0, 1, 1]);
  });

  test('when its price is below zero where it cannot be', () => {
    expect(held([2313, -2300, 2310])).toEqual([-2300]);
    expect(held([-5])).toEqual([-5]);
    expect(held([-3, -4], METAL, [-3])).toEqual([]); // a spread, whose first prices the operator accepted
  });

  test('when its range does not fit its close', () => {
    const bar = { day: 1, open: 2300, high: 2310, low: 2290, close: 2300 };
    const reasons = (one: typeof bar, rule = METAL) => [...findSuspicious([one], [], rule).values()];
    expect(reasons(bar)).toEqual([]);
    expect(reasons({ ...bar, high: 231_000 })).toEqual(['231000 is far from its close 2300']);
    expect(reasons({ ...bar, low: -5 })).toEqual(['-5 is below zero']);
    expect(reasons({ ...bar, high: 0, low: 0 }, ENERGY)).toEqual(['its high and low are 0']);
  });

  test('from a change of its unit on, until the unit changes back', () => {
    const [dollars, cents] = [walk(30, 23), walk(30, 2300)];
    expect(held([...dollars, ...cents, ...dollars])).toEqual(cents);
    expect(held([...dollars, ...cents], { ...METAL, holdUnitChanges: false })).toEqual([]);
  });

  test('when it is a zero between prices that are nowhere near zero', () => {
    expect(held([75, 76, 0, 77, 76, 75], ENERGY)).toEqual([0]);
    expect(held([75, 76, -7500, 77, 76, 75], ENERGY)).toEqual([-7500]);
    expect(held([0.5, -0.4, 0, 0.3, -0.2], ENERGY)).toEqual([]);
  });
});

describe('genuine history is not', () => {
  test.each([
    ['crude oil in April 2020', [19.87, 18.27, 18.31, -36.98, 8.91, 13.64, 15.06, 15.99], ENERGY],
    ['gas in February 2021', [3.68, 3.85, 6, 11.32, 23.86, 8.56, 4.96, 3.16, 2.83], ENERGY],
    ['gas on 2024-01-12', [2.69, 2.85, 3.15, 3.17, 13.2, 2.86, 2.86, 2.6], ENERGY],
    ['urea in 1974', [64.75, 64.75, 64.75, 285.75, 285.75, 285.75, 315], METAL],
    ['phosphate in 1977', [35, 35, 35, 140, 142.5, 44, 44, 36.5, 36.5], METAL],
    ['silver in 1980', [16.63, 21.8, 38.88, 35.1, 24.1, 14.5, 12.5, 15.8], METAL],
    ['sugar in 1975', [0.32, 0.33, 0.32, 0.6, 0.33, 0.32, 0.33], METAL],
  ])('%s', (_, closes, rule) => {
    expect(held(closes, rule)).toEqual([]);
  });

  test('whatever its level, and wherever it is cut into what is known and what is new', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -0.2, max: 0.2, noNaN: true }), { minLength: 1, maxLength: 80 }),
        fc.double({ min: 0.01, max: 1e5, noNaN: true }),
        fc.nat(),
        fc.boolean(),
        (moves, from, cut, canBeZero) => {
          let close = from;
          const closes = moves.map((move) => (close *= Math.exp(move)));
          const at = cut % closes.length;
          const rule = { canBeZero, holdUnitChanges: true };
          expect(held(closes.slice(at), rule, closes.slice(0, at))).toEqual([]);
        },
      ),
      { seed: 7 },
    );
  });

  test('and a new level that lasts is believed', () => {
    expect(held([...walk(20, 3), ...walk(20, 21)], ENERGY)).toEqual([]);
    expect(held([...walk(20, 3), ...walk(3, 21)], ENERGY)).toEqual(walk(3, 21)); // not yet
  });
});
