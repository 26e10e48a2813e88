import { expect, test } from 'bun:test';
import { apiOn, expectRefusal, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

onEachEngine('closed days', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-03-28': 1, '2024-04-01': 2 }); // Good Friday lies between
    await service.publish('SALMON', { '2024-04-01': 3 }); // weekly
    await service.publish('BEEF', { '2024-01-01': 4 }); // monthly
    await service.publish('POUL', { '2024-04-01': 5 }); // daily
  });
  const historical = (symbol: string, date: string) =>
    api.ask(`/rates/historical?symbols=${symbol}&date=${date}`);
  /** The close and the day it is from. */
  const closeOn = async (symbol: string, date: string) => {
    const { body } = await historical(symbol, date);
    const { rates, metadata } = body as Record<'rates' | 'metadata', Record<string, Json>>;
    expect(body.date).toBe(date);
    return [rates[symbol]!.close, metadata[symbol]!.date];
  };

  test('a holiday and the weekend after it have the last bar before them, and echo the date', async () => {
    for (const date of ['2024-03-29', '2024-03-30', '2024-03-31']) {
      expect(await closeOn('XAU', date)).toEqual([1, '2024-03-28']);
    }
    expect(await closeOn('XAU', '2024-04-01')).toEqual([2, '2024-04-01']);
  });

  const REACH: [symbol: string, kind: string, days: number, bar: string, last: string, beyond: string][] = [
    ['XAU', 'minutely', 14, '2024-04-01', '2024-04-15', '2024-04-16'],
    ['POUL', 'daily', 14, '2024-04-01', '2024-04-15', '2024-04-16'],
    ['SALMON', 'weekly', 21, '2024-04-01', '2024-04-22', '2024-04-23'],
    ['BEEF', 'monthly', 100, '2024-01-01', '2024-04-10', '2024-04-11'],
  ];
  for (const [symbol, kind, days, bar, last, beyond] of REACH) {
    test(`a ${kind} series looks ${days} days back, and not one more`, async () => {
      expect((await closeOn(symbol, last))[1]).toBe(bar);
      expectRefusal(await historical(symbol, beyond), 404, 'no_data');
    });
  }

  test('fluctuation applies the same rule', async () => {
    const path = (last: string) =>
      `/rates/fluctuation?symbols=XAU&startDate=2024-03-31&endDate=${last}&metadata=false`;
    expect((await api.ask(path('2024-04-15'))).body.rates).toEqual({
      XAU: { startRate: 1, endRate: 2, change: 1, changePercent: 100 },
    });
    expectRefusal(await api.ask(path('2024-04-16')), 404, 'no_data');
  });

  test('time-series never fills closed days', async () => {
    const path = '/rates/time-series?symbols=XAU&startDate=2024-03-28&endDate=2024-04-03';
    expect(Object.keys((await api.ask(path)).body.rates as Json)).toEqual(['2024-03-28', '2024-04-01']);
  });

  test('a monthly value belongs to the first of its month', async () => {
    expect(await closeOn('BEEF', '2024-01-31')).toEqual([4, '2024-01-01']);
    expectRefusal(await historical('BEEF', '2023-12-31'), 404, 'no_data');
  });
});
