import { beforeEach, expect, test } from 'bun:test';
import fc from 'fast-check';
import { NotLoaded } from '../../../src/board/series/load/load-level.ts';
import type { SymbolSeries } from '../../../src/board/series/symbol-series.ts';
import { type Day, printDay, utcDay } from '../../../src/market/day.ts';
import { apiOn } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { NOON, openTestService, type TestService } from '../../support/service.ts';

const TODAY = utcDay(NOON);
const DAYS = 1_600;
const DAY_MS = 86_400_000;
/** Daily prices, monthly ones, and a formula. */
const MONTHLY = 'CHROM';
const SYMBOLS = ['XAU', 'XAG', 'PL', MONTHLY, '{XAU}/{XAG}'];

onEachEngine('the last two years of a history', (engine) => {
  /** Has loaded all histories. */
  let whole: TestService;
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.setPlan({ name: 'wide', quota: 100_000, maxSpanDays: DAYS });
    api.key = await service.key('wide');
    for (const [code, everyDays] of [
      ['XAU', 1],
      ['XAG', 1],
      ['PL', 1],
      [MONTHLY, 31],
      ['EUR/USD', 1],
    ] as const)
      await service.publish(code, pricesEvery(everyDays));
    whole = await openTestService(engine, { ledgerUrl: service.ledgerUrl });
    await whole.core.board.ready(seriesOf(whole), 'all', NOON);
  });

  beforeEach(() => {
    for (const series of seriesOf(api.service)) series.reset();
  });

  test('are enough for answers about them; older days are loaded when they are requested', async () => {
    const [gold] = seriesOf(api.service);
    const closeOn = async (day: Day) => {
      const { body } = await api.ask(`/rates/historical?symbols=XAU&date=${printDay(day)}`);
      return [(body.rates as { XAU: { close: number } }).XAU.close, gold!.loaded];
    };
    expect(await closeOn(TODAY - 7)).toEqual([priceOn(TODAY - 7), 'twoYears']);
    expect(await closeOn(TODAY - 730)).toEqual([priceOn(TODAY - 730), 'twoYears']);
    expect(await closeOn(TODAY - 1_100)).toEqual([priceOn(TODAY - 1_100), 'all']);
    expect(await closeOn(TODAY - 7)).toEqual([priceOn(TODAY - 7), 'all']);
  });

  test('answer as the whole history does, whatever is asked', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.constantFrom(...SYMBOLS), { minLength: 1 }),
        fc.constantFrom('historical', 'time-series', 'fluctuation', 'statistics'),
        fc.integer({ min: 1, max: 1_000 }),
        fc.integer({ min: 0, max: 400 }),
        fc.constantFrom('', '&quote=EUR', '&format=csv'),
        async (symbols, endpoint, age, span, rest) => {
          for (const series of seriesOf(api.service)) series.reset();
          const [first, last] = [TODAY - age - span, TODAY - age].map(printDay);
          const range = endpoint === 'historical' ? `date=${first}` : `startDate=${first}&endDate=${last}`;
          const path = `/rates/${endpoint}?symbols=${encodeURIComponent(symbols.join(','))}&${range}${rest}`;
          const [one, other] = await Promise.all([api.ask(path), whole.get(path, api.key)]);
          expect([path, one.status, one.text]).toEqual([path, other.status, await other.text()]);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('are not mistaken for the whole history', async () => {
    const [gold] = seriesOf(api.service);
    const { board } = api.service.core;
    await board.ready([gold!], 'twoYears', NOON);
    const view = board.view(0);
    const frozen = view.freeze([gold!]);
    const [first, last] = [TODAY - 1_100, TODAY - 300];
    for (const prices of [view, frozen]) {
      expect(prices.bars(gold!, TODAY - 500, last)).toHaveLength(201);
      expect(() => prices.bars(gold!, first, last)).toThrow(NotLoaded);
      expect(() => prices.settled(gold!, first, last)).toThrow(NotLoaded);
      expect(() => prices.barOnOrBefore(gold!, last, first)).toThrow(NotLoaded);
    }
    expect(() => frozen.days(gold!, first, last)).toThrow(NotLoaded);
    expect(() => frozen.digest(gold!, first, last)).toThrow(NotLoaded);
    expect(() => frozen.settledHistory(gold!)).toThrow(NotLoaded);
  });

  test('that were loaded before the clock was set back are loaded again', async () => {
    const { clock } = api.service;
    const first = TODAY - 1_000;
    const range = `startDate=${printDay(first)}&endDate=${printDay(TODAY - 310)}`;
    for (const [path, found] of [
      [`historical?symbols=XAU&date=${printDay(first)}`, `"close":${priceOn(first)}`],
      [`fluctuation?symbols=XAU&${range}`, `"startRate":${priceOn(first)}`],
      [`time-series?symbols=XAU&${range}`, printDay(first)],
      [`time-series?symbols=XAU,XAG,PL&${range}`, printDay(first)], // large
    ] as const) {
      for (const series of seriesOf(api.service)) series.reset();
      await api.ask(`/rates/historical?symbols=XAU,XAG,PL&date=${printDay(TODAY - 7)}`);
      clock.setBy = -300 * DAY_MS;
      const { status, text } = await api.ask(`/rates/${path}`);
      clock.setBy = 0;
      expect([path, status, text]).toEqual([path, 200, expect.stringContaining(found)]);
    }
  });

  test('have the bars that arrive while older days are loaded', async () => {
    const [gold] = seriesOf(api.service);
    const { board } = api.service.core;
    await board.ready([gold!], 'twoYears', NOON);
    const loading = board.prepare([gold!], 'all', NOON);
    await api.service.publish('XAU', { [printDay(TODAY - 10)]: 4321 });
    await loading;
    expect(gold!.loaded).toBe('all');
    const { body } = await api.ask(`/rates/historical?symbols=XAU&date=${printDay(TODAY - 10)}`);
    expect(body.rates).toMatchObject({ XAU: { close: 4321 } });
    await api.service.publish('XAU', { [printDay(TODAY - 10)]: priceOn(TODAY - 10) });
  });
});

function seriesOf({ core }: TestService): SymbolSeries[] {
  const { catalog } = core.board;
  const symbols = ['XAU', 'XAG', 'PL', MONTHLY].map((code) => catalog.find(code)!);
  return [...symbols, ...catalog.currencies.map((code) => catalog.exchangeRate(code)!)];
}

function priceOn(day: Day): number {
  return 1_000 + (day % 997);
}

/** A price on every so many of the last days. */
function pricesEvery(days: number): Record<string, number> {
  const all = Array.from({ length: Math.floor(DAYS / days) }, (_, i) => TODAY - 1 - i * days);
  return Object.fromEntries(all.map((day) => [printDay(day), priceOn(day)]));
}
