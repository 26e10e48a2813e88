import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  areWithinTolerance,
  type PriceTraits,
  QUARANTINE_MS,
  type TickNeighbours,
  TickWatch,
  type WatchedTick,
} from './tick-watch.ts';

const METAL: PriceTraits = { canBeZero: false, step: 0.01 };
const ENERGY: PriceTraits = { canBeZero: true, step: 0.01 };
const MINUTE = 60_000;

const tick = (at: number, price: number, sourceId = 2): WatchedTick => ({ at, price, sourceId });

/** Prices that move by at most half a percent from one to the next. */
const walk = (length: number) =>
  fc
    .tuple(
      fc.double({ min: 0.5, max: 5_000, noNaN: true }),
      fc.array(fc.double({ min: -0.005, max: 0.005, noNaN: true }), { minLength: length, maxLength: length }),
    )
    .map(([start, moves]) => {
      let price = start;
      return moves.map((move, i) => {
        price *= 1 + move;
        return tick(i * MINUTE, price);
      });
    });

/** Takes and releases all ticks. Returns those that were accepted in the end. */
function acceptedBy(watch: TickWatch<WatchedTick>, ticks: readonly WatchedTick[]): Set<WatchedTick> {
  const accepted = new Set<WatchedTick>();
  for (const one of ticks) {
    if (watch.take(one) === undefined) accepted.add(one);
    for (const released of watch.release()) accepted.add(released);
  }
  return accepted;
}

describe('a walk without jumps', () => {
  test('is never held back, in order or not', () => {
    fc.assert(
      fc.property(walk(80), fc.infiniteStream(fc.nat()), (ticks, chance) => {
        expect(acceptedBy(new TickWatch(METAL, [], []), ticks).size).toBe(80);
        const late = ticks.slice(60).toSorted(() => (chance.next().value! % 2 === 0 ? 1 : -1));
        expect(acceptedBy(new TickWatch(METAL, ticks.slice(0, 60), []), late).size).toBe(20);
      }),
    );
  });

  test('with one price a hundred times too high or too low: that one is held, in any order, and no other', () => {
    fc.assert(
      fc.property(
        walk(80),
        fc.nat(19),
        fc.constantFrom(100, 0.01, 31.1, 2204.6),
        fc.constantFrom(METAL, ENERGY),
        fc.boolean(),
        (ticks, where, factor, traits, isBackwards) => {
          const news = ticks.slice(60);
          const right = news[where]!;
          const wrong = { ...right, price: right.price * factor };
          const sent = isBackwards ? news.with(where, wrong).reverse() : news.with(where, wrong);
          const accepted = acceptedBy(new TickWatch(traits, ticks.slice(0, 60), []), sent);
          expect(accepted.has(wrong)).toBe(false);
          expect(accepted.size).toBe(19);
        },
      ),
    );
  });
});

describe('ticks within tolerance', () => {
  const price = fc.oneof(
    { weight: 6, arbitrary: fc.double({ min: 95, max: 105, noNaN: true }) },
    { weight: 1, arbitrary: fc.double({ min: -2, max: 200, noNaN: true }) },
  );
  const ticksOf = (prices: readonly number[], gapsMs: readonly number[]) => {
    let at = 0;
    return prices.map((one, i) => {
      at += gapsMs[i]!;
      return tick(at, one);
    });
  };

  /** What the ledger reads of the known ticks around a new one. */
  const neighboursOf = (known: readonly WatchedTick[], { at }: WatchedTick): TickNeighbours => ({
    before: known.findLast((one) => one.at < at),
    nextAt: known.find((one) => one.at >= at)?.at ?? Number.POSITIVE_INFINITY,
  });
  const isWithinTolerance = (traits: PriceTraits, news: WatchedTick[], known: WatchedTick[]) =>
    areWithinTolerance(traits, news, new Map(news.map((one) => [one.at, neighboursOf(known, one)])));

  test('are accepted by the watch, wherever they lie among known ones; others may be', () => {
    let [accepted, amongKnown] = [0, 0];
    fc.assert(
      fc.property(
        fc.array(price, { minLength: 1, maxLength: 8 }),
        fc.array(fc.constantFrom(0, 1, MINUTE, QUARANTINE_MS, QUARANTINE_MS + 1), {
          minLength: 8,
          maxLength: 8,
        }),
        fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
        fc.constantFrom(METAL, ENERGY),
        (prices, gapsMs, areKnown, traits) => {
          const all = ticksOf(prices, gapsMs);
          const [known, news] = [all.filter((_, i) => areKnown[i]), all.filter((_, i) => !areKnown[i])];
          if (news.length === 0) return;
          const first = neighboursOf(known, news[0]!);
          const isMixed = first.nextAt <= news.at(-1)!.at;
          if (!isMixed) {
            expect(areWithinTolerance(traits, news, new Map([[news[0]!.at, first]]))).toBe(
              isWithinTolerance(traits, news, known),
            );
          }
          if (!isWithinTolerance(traits, news, known)) return;
          accepted++;
          if (isMixed) amongKnown++;
          const watch = new TickWatch<WatchedTick>(traits, known, []);
          for (const one of news) expect(watch.take(one)).toBeUndefined();
          expect(watch.release()).toEqual([]);
        },
      ),
      { numRuns: 2_000 },
    );
    expect(accepted).toBeGreaterThan(200);
    expect(amongKnown).toBeGreaterThan(20);
  });

  test('are not: one a tenth away from the one before, one below zero', () => {
    expect(isWithinTolerance(METAL, [tick(1, 111), tick(2, 100)], [tick(0, 100)])).toBe(true);
    expect(isWithinTolerance(METAL, [tick(1, 112)], [tick(0, 100)])).toBe(false);
    expect(isWithinTolerance(METAL, [tick(QUARANTINE_MS + 1, 112)], [tick(0, 100)])).toBe(true);
    expect(isWithinTolerance(METAL, [tick(1, -0.05)], [tick(0, 0.05)])).toBe(false);
    expect(isWithinTolerance(ENERGY, [tick(1, -0.05)], [tick(0, 0.05)])).toBe(true);
    expect(isWithinTolerance(METAL, [tick(1, -0.05)], [])).toBe(true);
  });

  test('are not: one that has only a later neighbour, one at the time of a known one', () => {
    expect(isWithinTolerance(METAL, [tick(1, 100)], [tick(2, 100)])).toBe(false);
    expect(isWithinTolerance(METAL, [tick(1, 100)], [tick(0, 100), tick(1, 100)])).toBe(false);
  });
});

describe('a tick that is far away', () => {
  const steady = Array.from({ length: 50 }, (_, i) => tick(i * MINUTE, 100 + (i % 2) / 10));
  const after = (n: number) => (50 + n) * MINUTE;

  test('is released by three more of its source, and not by two', () => {
    const watch = new TickWatch(METAL, steady, []);
    for (const n of [0, 1, 2]) {
      expect(watch.take(tick(after(n), 130 + n))).toContain('far from its neighbour');
      expect(watch.release()).toEqual([]);
    }
    watch.take(tick(after(3), 131));
    expect(watch.release()).toHaveLength(4);
    expect(watch.take(tick(after(4), 132))).toBeUndefined();
  });

  test('is released by one of another source', () => {
    const watch = new TickWatch(METAL, steady, []);
    const first = tick(after(0), 130);
    const other = tick(after(1), 131, 3);
    watch.take(first);
    watch.take(other);
    expect(watch.release()).toEqual(expect.arrayContaining([first, other]));
  });

  test('is not confirmed by one that disagrees, or that is of another time', () => {
    const watch = new TickWatch(METAL, steady, []);
    watch.take(tick(after(0), 300));
    watch.take(tick(after(1), 30_000, 3));
    watch.take(tick(after(0) + QUARANTINE_MS + 1, 300, 3));
    expect(watch.release()).toEqual([]);
  });

  test('is held again after a restart, and released by what comes then', () => {
    const held = tick(after(0), 130);
    const watch = new TickWatch<WatchedTick>(METAL, steady, [held]);
    expect(watch.release()).toEqual([]);
    watch.take(tick(after(1), 130.5, 3));
    expect(watch.release()).toContain(held);
  });

  test('is the first of a symbol: there is nothing to be far from', () => {
    expect(new TickWatch<WatchedTick>(METAL, [], []).take(tick(0, 5))).toBeUndefined();
  });
});

describe('a change of sign', () => {
  const near = (prices: number[]) => prices.map((price, i) => tick(i * MINUTE, price));

  test('alone is no reason for energy', () => {
    const watch = new TickWatch(ENERGY, near(Array(50).fill(0.05)), []);
    expect(watch.take(tick(51 * MINUTE, -0.1))).toBeUndefined();
  });

  test('is a reason for a metal', () => {
    const watch = new TickWatch(METAL, near(Array(50).fill(0.05)), []);
    expect(watch.take(tick(51 * MINUTE, -0.1))).toContain('not above zero');
  });

  test('the fall of crude oil on 2020-04-20 is taken tick by tick', () => {
    const fall = Array.from({ length: 120 }, (_, i) => tick(i * MINUTE, 18 - i * 0.48));
    expect(acceptedBy(new TickWatch(ENERGY, [], []), fall).size).toBe(120);
    expect(fall.at(-1)!.price).toBeLessThan(-37);
  });
});
