import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseDay, printDay } from '../../../src/market/day.ts';
import { INTERVALS } from '../../../src/market/interval.ts';
import { apiOn, type Json } from '../../support/api.ts';
import { derivedRows } from '../../support/exact/derived-rows.ts';
import { CLOSES, CODES, DECIMALS, FIRST, LAST } from '../../support/exact/histories.ts';
import { onEachEngine } from '../../support/ledger.ts';

/** Where intervals of each length begin. 2018-01-01 was a Monday. */
function firstDate(interval: string, weeks: number): string {
  if (interval === 'day' || interval === 'week') return printDay(FIRST + 7 * weeks);
  return `${2018 + (weeks % 6)}-01-01`;
}

const query = fc.record({
  code: fc.constantFrom(...CODES),
  interval: fc.constantFrom(...INTERVALS),
  weeks: fc.nat(290),
  days: fc.integer({ min: 1, max: 800 }),
  transform: fc.constantFrom('change', 'percent', 'log', 'index', undefined),
  period: fc.integer({ min: 1, max: 14 }),
  moving: fc.option(fc.integer({ min: 2, max: 40 }), { nil: undefined }),
});

onEachEngine('compared with exact rational arithmetic', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    for (const code of CODES) await service.publish(code, Object.fromEntries(CLOSES[code]));
  });

  test('averages, transforms and moving averages are those of the documentation, for any interval', async () => {
    let derivedCount = 0;
    const property = fc.asyncProperty(query, async ({ code, weeks, days, ...derivation }) => {
      const { interval, transform, period, moving } = derivation;
      const first = firstDate(interval, weeks);
      const last = printDay(Math.min(LAST, parseDay(first)! + days));
      const parameters = {
        ...{ symbols: code, startDate: first, endDate: last, interval, metadata: 'false' },
        ...(transform && { transform }),
        ...(transform && transform !== 'index' && { period: String(period) }),
        ...(moving && { moving: String(moving) }),
      };
      const { status, body } = await api.ask(`/rates/history?${new URLSearchParams(parameters)}`);
      expect(status).toBe(200);
      const found = (body.rates as Json[]).map((row) => ({
        date: row.date,
        close: row.close,
        average: row.average,
        count: row.count,
        derived: transform && row[transform],
        moving: row.moving,
      }));
      const expected = derivedRows(CLOSES[code], [first, last], DECIMALS[code], derivation);
      expect(found).toEqual(expected as never);
      derivedCount += expected.filter(({ derived }) => derived !== undefined).length;
    });
    await fc.assert(property, { numRuns: 150 });
    expect(derivedCount).toBeGreaterThan(3_000);
  });
});
