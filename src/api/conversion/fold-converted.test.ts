import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { SourcedBar } from '../../board/series/price-types.ts';
import { mean, meanTo } from '../../market/analytics/mean.ts';
import { foldBars, INTERVALS } from '../../market/interval.ts';
import { CONVERTED_DIGITS, Multiplier, ratioOf } from '../../market/ratio.ts';
import { sourceIdsOf } from '../response/json.ts';
import { foldConverted } from './fold-converted.ts';

class TestFactor extends Multiplier {
  readonly text: string;
  readonly sourceIds: readonly number[];

  constructor(rate: number) {
    super(ratioOf(rate));
    this.text = String(rate);
    this.sourceIds = [rate > 1 ? 8 : 9];
  }
}

/** Prices so close together that rounding decides which is the highest. */
const price = fc
  .tuple(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -300, max: 300 }))
  .map(([base, parts]) => Number((base * 100 + parts / 1e9).toFixed(9)));
const bar = fc.record({ open: price, high: price, low: price, close: price, sourceId: fc.nat(2) });
const rate = fc.constantFrom(1, 1, 1.00000001, 0.99999999, 1.07, 0.9);

/** The mean of the converted closes: with their own digits, or with 8 if any of them was rounded. */
function averageOf(bars: readonly (SourcedBar & { factor: TestFactor })[]): number {
  const closes = bars.map(({ close }) => close);
  return bars.every(({ factor }) => factor.isOne) ? mean(closes, 2) : meanTo(closes, CONVERTED_DIGITS);
}

test('folding and then converting gives what converting and then folding gives', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(bar, rate, fc.integer({ min: 1, max: 4 })), { minLength: 1, maxLength: 80 }),
      fc.constantFrom(...INTERVALS),
      (items, interval) => {
        let day = 19_000;
        const factors = new Map<number, TestFactor>();
        const bars: SourcedBar[] = items.map(([ohlc, ofDay, gap]) => {
          day += gap;
          factors.set(day, new TestFactor(ofDay));
          return { day, ...ohlc };
        });
        const converted = bars.map((one) => {
          const factor = factors.get(one.day)!;
          const [open, high] = [factor.apply(one.open), factor.apply(one.high)];
          return { ...one, open, high, low: factor.apply(one.low), close: factor.apply(one.close), factor };
        });
        const expected = foldBars(converted, interval).map(({ bars: own, ...folded }) => ({
          ...folded,
          bars: own.length,
          average: averageOf(own),
          factor: own.at(-1)!.factor,
          sourceIds: sourceIdsOf(own),
        }));
        expect(foldConverted(bars, (one) => factors.get(one)!, interval, 2)).toEqual(expected);
      },
    ),
    { numRuns: 300 },
  );
});
