import { expect, test } from 'bun:test';
import type { PricedIntradayBar } from '../../../board/series/price-types.ts';
import type { Series } from '../../../board/series/series.ts';
import type { Prices } from '../../../board/views/prices.ts';
import type { Derivation } from '../../../market/analytics/closes.ts';
import { MS_PER_DAY } from '../../../market/day.ts';
import type { TimeRange } from '../../../market/intraday/interval.ts';
import type { LedgerReads } from '../../model/endpoint.ts';
import { ROWS_PER_UNIT } from '../../model/long-table.ts';
import type { IntradayQuery } from './intraday-query.ts';
import { ROWS_READ_MAX, readIntradayPage } from './intraday-rows.ts';

const MINUTE = 60_000;
const TODAY = Date.UTC(2024, 4, 15);
const END = TODAY + 3 * MS_PER_DAY;
const CHANGE: Derivation = { transform: 'change', period: 1, moving: undefined };

/** A market with a price in every minute from `begin` on, of each symbol but those in `without`. Prices are times. */
function market(symbolCount: number, begin: number, without: readonly number[] = []) {
  const series = Array.from(
    { length: symbolCount },
    () => ({ symbol: { decimals: 2 } }) as unknown as Series,
  );
  const hasAny = (one: Series) => !without.includes(series.indexOf(one));
  let loaded: TimeRange = { from: 0, to: 0 };
  const reads: number[] = [];
  const past = {
    async loadIntraday(time: TimeRange, _: string, of: readonly Series[] = series) {
      loaded = time;
      reads.push((of.length * (time.to - time.from)) / MINUTE);
    },
    async nextIntraday(from: number, _: string, of: readonly Series[] = series) {
      return of.some(hasAny) && from < END ? Math.max(from, begin) : undefined;
    },
  } as unknown as LedgerReads;
  const intraday = (one: Series) => {
    const bars: PricedIntradayBar[] = [];
    for (let at = Math.max(loaded.from, begin); hasAny(one) && at < Math.min(loaded.to, END); at += MINUTE)
      bars.push({ at, close: at, minutes: 1 } as PricedIntradayBar);
    return bars;
  };
  const symbols = series.map((one, i) => ({ code: `S${i}`, series: one }));
  const page = (first: number, from = { at: first, symbolIndex: 0 }, derivation?: Derivation) => {
    const query = {
      symbols,
      interval: 'minute',
      first,
      last: END - 1,
      from,
      derivation,
    } as unknown as IntradayQuery;
    return readIntradayPage(query, { intraday } as unknown as Prices, past, END);
  };
  return { page, reads };
}

for (const symbolCount of [1, 20]) {
  for (const daysBefore of [0, 1, 40, 3_000]) {
    test(`a page of ${symbolCount} symbols that starts ${daysBefore} days before its first row reads a bounded number of rows`, async () => {
      const { page, reads } = market(symbolCount, TODAY);
      const { rows, next } = await page(TODAY - daysBefore * MS_PER_DAY);
      expect(rows.map(({ at, symbolIndex }) => [at, symbolIndex])).toEqual(
        Array.from({ length: ROWS_PER_UNIT }, (_, i) => [
          TODAY + Math.floor(i / symbolCount) * MINUTE,
          i % symbolCount,
        ]),
      );
      expect(next?.at).toBe(TODAY + (ROWS_PER_UNIT / symbolCount) * MINUTE);
      expect(Math.max(...reads)).toBeLessThanOrEqual(ROWS_READ_MAX);
      expect(reads.length).toBeLessThanOrEqual(4);
    });
  }
}

test('the closes before a page of a late cursor are found, although a symbol has none', async () => {
  const begin = TODAY - 400 * MS_PER_DAY;
  const { page, reads } = market(20, begin, [3, 7]);
  const { rows } = await page(begin, { at: TODAY, symbolIndex: 0 }, CHANGE);
  expect(rows[0]).toMatchObject({ at: TODAY, symbolIndex: 0, transformed: expect.anything() });
  expect(Math.max(...reads)).toBeLessThanOrEqual(ROWS_READ_MAX);
  expect(reads.length).toBeLessThanOrEqual(4);
});

test('a page without rows ends', async () => {
  const { page, reads } = market(2, TODAY, [0, 1]);
  expect(await page(TODAY - 3_000 * MS_PER_DAY)).toEqual({ rows: [], next: undefined });
  expect(reads).toHaveLength(1);
});
