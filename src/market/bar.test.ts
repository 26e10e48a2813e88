import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Fold, foldTick, isBefore, ohlcOf, sameOhlc, type Tick } from './bar.ts';

describe('folding ticks', () => {
  test('the open is the earliest, the close the latest, high and low the extremes', () => {
    const fold = foldAll([
      tick(30, 'c', -36.98),
      tick(10, 'a', 18.31),
      tick(20, 'b', 20),
      tick(40, 'd', 11.5),
    ]);
    expect(ohlcOf(fold)).toEqual({ open: 18.31, high: 20, low: -36.98, close: 11.5 });
  });

  test('one tick is a whole bar', () => {
    expect(ohlcOf(foldAll([tick(1, 'a', 0)]))).toEqual({ open: 0, high: 0, low: 0, close: 0 });
  });

  test('ticks of the same moment go by their id', () => {
    const fold = foldAll([tick(5, 'b', 2), tick(5, 'c', 3), tick(5, 'a', 1)]);
    expect(ohlcOf(fold)).toEqual({ open: 1, high: 3, low: 1, close: 3 });
  });

  test('when it was received does not move a tick', () => {
    const late = { ...tick(1, 'late', 7), received: 99 };
    expect(ohlcOf(foldAll([tick(2, 'b', 8), late])).open).toBe(7);
  });

  test('any order, with any ticks repeated, gives the same bar', () => {
    fc.assert(
      fc.property(
        arbitraryTicks.chain((ticks) =>
          fc.tuple(fc.constant(ticks), shuffled(ticks), fc.subarray(ticks).chain(shuffled)),
        ),
        ([ticks, reordered, again]) => {
          expect(ohlcOf(foldAll([...reordered, ...again]))).toEqual(barBySorting(ticks));
        },
      ),
    );
  });

  test('a bar holds its own open and close between low and high', () => {
    fc.assert(
      fc.property(arbitraryTicks, (ticks) => {
        const { open, high, low, close } = ohlcOf(foldAll(ticks));
        expect(low <= open && open <= high && low <= close && close <= high).toBe(true);
      }),
    );
  });

  test('folding leaves the fold it was given alone', () => {
    const before = foldAll([tick(1, 'a', 1)]);
    const copy = structuredClone(before);
    foldTick(before, tick(2, 'b', 5));
    expect(before).toEqual(copy);
  });
});

test('the order of ticks is total: of two that differ in time, id or price, one is before the other', () => {
  fc.assert(
    fc.property(arbitraryTick, arbitraryTick, (a, b) => {
      const same = a.at === b.at && a.id === b.id && a.price === b.price;
      expect(Number(isBefore(a, b)) + Number(isBefore(b, a))).toBe(same ? 0 : 1);
    }),
  );
});

test('two bars are the same only when all four prices are', () => {
  const bar = { open: 1, high: 4, low: 0, close: 2 };
  expect(sameOhlc(bar, { ...bar })).toBe(true);
  for (const field of ['open', 'high', 'low', 'close'] as const) {
    expect(sameOhlc(bar, { ...bar, [field]: bar[field] + 0.01 })).toBe(false);
  }
});

function tick(at: number, id: string, price: number): Tick {
  return { at, received: at, price, id };
}

function foldAll(ticks: readonly Tick[]): Fold {
  let fold: Fold | undefined;
  for (const next of ticks) fold = foldTick(fold, next);
  if (!fold) throw new Error('a bar needs a tick');
  return fold;
}

/** The slow and plain way: sort, then take the ends. */
function barBySorting(ticks: readonly Tick[]) {
  const sorted = ticks.toSorted(
    (a, b) => a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : a.price - b.price),
  );
  const prices = ticks.map(({ price }) => price).sort((a, b) => a - b);
  return { open: sorted[0]!.price, high: prices.at(-1)!, low: prices[0]!, close: sorted.at(-1)!.price };
}

// Few times and ids, so that they collide; two sources may use the same id at the same moment.
const arbitraryTick = fc.record({
  at: fc.integer({ min: 0, max: 5 }),
  received: fc.integer({ min: 0, max: 9 }),
  price: fc.integer({ min: -500, max: 500 }).map((cents) => cents / 100 + 0),
  id: fc.constantFrom('a', 'b', 'c', '10', '9'),
});
const arbitraryTicks = fc.array(arbitraryTick, { minLength: 1, maxLength: 20 });

function shuffled<T>(items: readonly T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...items], { minLength: items.length, maxLength: items.length });
}
