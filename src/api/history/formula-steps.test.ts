import { expect, test } from 'bun:test';
import { FormulaSeries } from '../../board/series/formula-series.ts';
import type { SymbolSeries } from '../../board/series/symbol-series.ts';
import type { FrozenPrices } from '../../board/views/prices.ts';
import type { Day } from '../../market/day.ts';
import { type Formula, parseFormula } from '../../market/formula/parse.ts';
import { ByteWriter } from '../model/byte-writer.ts';
import { FORMULA_DAYS_PER_STEP, freezeIfLarge } from '../model/large-answer.ts';
import type { RequestedSymbol } from '../model/price-query.ts';
import type { SymbolSet } from '../params/symbol-set.ts';
import { intervalPieces } from './interval-pieces.ts';
import { writeRatesInSlices } from './rates-by-day.ts';

const GOLD = { symbol: { decimals: 2, updateInterval: 'day' } } as unknown as SymbolSeries;
const FORMULA = new FormulaSeries(parseFormula('{XAU}*2') as Formula, [{ code: 'XAU', series: GOLD }]);
const DAYS = { first: 0, last: 2_999 };

function formulas(count: number): RequestedSymbol[] {
  return Array.from({ length: count }, (_, i) => ({ code: `F${i}`, series: FORMULA }) as RequestedSymbol);
}

/** Prices of every day since day 0. `evaluated` gets the number of bars of each read. */
function prices(evaluated: (bars: number) => void = () => {}): FrozenPrices {
  const days = (_: unknown, first: Day, last: Day) =>
    Int32Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const own = {
    firstDay: () => 0,
    days,
    freeze: () => own,
    bars(series: unknown, first: Day, last: Day) {
      evaluated(last - first + 1);
      return [...days(series, first, last)].map((day) => ({
        day,
        open: 1,
        high: 1,
        low: 1,
        close: 1,
        sourceId: 1,
      }));
    },
  };
  return own as unknown as FrozenPrices;
}

test('an answer about many days of formulas is built with pauses', () => {
  const frozen = prices();
  expect(freezeIfLarge(formulas(1), 1, FORMULA_DAYS_PER_STEP, frozen)).toBeUndefined();
  expect(freezeIfLarge(formulas(1), 1, FORMULA_DAYS_PER_STEP + 1, frozen)).toBe(frozen);
  expect(freezeIfLarge(formulas(20), 1, 3, frozen)).toBe(frozen);
});

for (const count of [1, 7, 40, 200]) {
  const most = Math.max(FORMULA_DAYS_PER_STEP, count);

  test(`rates of ${count} formulas are written at most ${most} days at a time`, async () => {
    let [evaluated, longest] = [0, 0];
    const read = prices((bars) => {
      evaluated += bars;
      longest = Math.max(longest, bars * count);
    });
    const how = { symbolSet: {} as SymbolSet, isConverted: false };
    await writeRatesInSlices(new ByteWriter(), formulas(count), read, DAYS, how);
    expect(evaluated).toBe(3_000 * count);
    expect(longest).toBeLessThanOrEqual(most);
  });

  test(`rows of ${count} formulas are read at most ${FORMULA_DAYS_PER_STEP} days at a time`, () => {
    let [evaluated, inPiece, longest] = [0, 0, 0];
    const read = prices((bars) => {
      evaluated += bars;
      inPiece += bars;
    });
    for (const _ of intervalPieces({ day: 0, symbolIndex: 0 }, formulas(count), read, {
      ...DAYS,
      interval: 'day',
    })) {
      longest = Math.max(longest, inPiece);
      inPiece = 0;
    }
    expect(evaluated).toBe(3_000 * count);
    expect(longest).toBeLessThanOrEqual(FORMULA_DAYS_PER_STEP);
  });
}
