import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { printDay } from '../../../src/market/day.ts';
import { apiOn, type Json } from '../../support/api.ts';
import type { DatedCloses } from '../../support/exact/derived-rows.ts';
import { CLOSES, CODES, type Code, DECIMALS, FIRST, LAST } from '../../support/exact/histories.ts';
import {
  dividedBy,
  minus,
  plus,
  type Rational,
  rational,
  roundedTo,
  timesOf,
} from '../../support/exact/rational.ts';
import { exactCorrelation, exactStatistics } from '../../support/exact/statistics.ts';
import { onEachEngine } from '../../support/ledger.ts';

/** A range of up to half a year, or of a few days. */
const range = fc
  .tuple(fc.integer({ min: FIRST, max: LAST - 10 }), fc.oneof(fc.nat(8), fc.nat(180)))
  .map(([first, days]) => [printDay(first), printDay(Math.min(LAST, first + days))] as const);

function within([first, last]: readonly [string, string], code: Code): DatedCloses {
  return CLOSES[code].filter(([date]) => date >= first && date <= last);
}

/** A formula as text, and what it is for some closes; undefined after a division by zero. */
interface KnownFormula {
  text: string;
  codes: readonly Code[];
  exactValue(closes: ReadonlyMap<Code, number>): Rational | undefined;
}

const OPERATIONS: Record<string, (a: Rational, b: Rational) => Rational | undefined> = {
  '+': plus,
  '-': minus,
  '*': timesOf,
  '/': dividedBy,
};

const { formula } = fc.letrec<{ formula: KnownFormula; operation: KnownFormula }>((tie) => ({
  formula: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'exact-formula' },
    fc.constantFrom(...CODES).map(
      (code): KnownFormula => ({
        text: `{${code}}`,
        codes: [code],
        exactValue: (closes) => rational(closes.get(code)!),
      }),
    ),
    fc.integer({ min: 0, max: 9_999 }).map(
      (cents): KnownFormula => ({
        text: `${cents / 100}`,
        codes: [],
        exactValue: () => rational(cents / 100),
      }),
    ),
    tie('operation'),
  ),
  operation: fc.tuple(fc.constantFrom(...Object.keys(OPERATIONS)), tie('formula'), tie('formula')).map(
    ([operator, a, b]): KnownFormula => ({
      text: `(${a.text})${operator}(${b.text})`,
      codes: [...a.codes, ...b.codes],
      exactValue: (closes) => {
        const [left, right] = [a.exactValue(closes), b.exactValue(closes)];
        return left && right && OPERATIONS[operator]!(left, right);
      },
    }),
  ),
}));

onEachEngine('compared with exact rational arithmetic', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    for (const code of CODES) await service.publish(code, Object.fromEntries(CLOSES[code]));
  });

  test('statistics and correlations are those of the documentation', async () => {
    const property = fc.asyncProperty(range, fc.subarray(CODES, { minLength: 1 }), async (days, codes) => {
      fc.pre(codes.every((code) => within(days, code).length > 0));
      const query = `symbols=${codes}&startDate=${days[0]}&endDate=${days[1]}&metadata=false`;
      const { body } = await api.ask(`/rates/statistics?${query}`);
      for (const code of codes) {
        const found = (body.statistics as Record<string, Json>)[code];
        expect(found).toEqual(exactStatistics(within(days, code), DECIMALS[code]));
        for (const other of codes) {
          const correlation = (body.correlation as Record<string, Json>)[code]![other];
          expect(correlation).toBe(exactCorrelation(within(days, code), within(days, other)));
        }
      }
    });
    await fc.assert(property, { numRuns: 40 });
  });

  test('a formula has the exact value of the closes of each day that all its symbols have', async () => {
    const property = fc.asyncProperty(formula, range, async ({ text, codes, exactValue }, days) => {
      fc.pre(codes.length > 0 && text.length < 400);
      const query = new URLSearchParams({ symbols: text, startDate: days[0], endDate: days[1] });
      const { status, body } = await api.ask(`/rates/history?${query}`);
      const histories = [...new Set(codes)].map((code) => new Map(within(days, code)));
      const dates = [...histories[0]!.keys()].filter((date) => histories.every((own) => own.has(date)));
      const expected = dates.flatMap((date) => {
        const closes = new Map([...new Set(codes)].map((code, i) => [code, histories[i]!.get(date)!]));
        const value = exactValue(closes);
        return value ? [[date, roundedTo(value, 15)]] : [];
      });
      // A formula that divides by zero whatever the prices are is refused.
      if (status !== 200) return expect([status, body.code, expected]).toEqual([400, 'invalid_formula', []]);
      expect((body.rates as Json[]).map(({ date, close }) => [date, close])).toEqual(expected as never);
    });
    await fc.assert(property, { numRuns: 150 });
  });
});
