import { expect, test } from 'bun:test';
import type { UpdateInterval } from '../../../src/market/symbol.ts';
import { apiOn, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE } from '../../support/service.ts';

const DAY = 24 * 60 * MINUTE;

/** Days between two prices, how many there are, and how many closes the view has. */
const PUBLISHED: Readonly<Record<UpdateInterval, { every: number; prices: number; closes: number }>> = {
  minute: { every: 1, prices: 1_200, closes: 30 },
  day: { every: 1, prices: 1_200, closes: 30 },
  week: { every: 7, prices: 300, closes: 30 },
  month: { every: 30, prices: 60, closes: 13 },
};

onEachEngine('the first market view after a start', (engine) => {
  const published = new Map<string, (typeof PUBLISHED)[UpdateInterval]>();
  const api = apiOn(engine, {}, async ({ service: { ledger, publish, clock, tick } }) => {
    const symbols = await ledger.symbols.list();
    for (const [i, updateInterval] of (['minute', 'day', 'week', 'month'] as const).entries()) {
      const symbol = symbols[i]!;
      const { every, prices } = PUBLISHED[updateInterval];
      published.set(symbol.code, PUBLISHED[updateInterval]);
      await ledger.symbols.upsert([{ ...symbol, updateInterval, market: 'SPOT' }], []);
      const bars = Array.from({ length: prices }, (_, n) => [dateAgo(clock.time, every * (n + 1)), 100 + n]);
      await publish(symbol.code, Object.fromEntries(bars), 'test', clock.time - 120 * MINUTE);
      await tick(symbol.code, 99);
    }
  });

  test.each([
    ['unlimited', 99],
    ['free', 100], // an hour ago, no tick was known
  ])('reads no more of any history than its recent days: plan %s', async (plan, newest) => {
    const { core, clock, key } = api.service;
    const series = [...published.keys()].map((code) => core.board.catalog.find(code)!);
    for (const one of series) one.reset();
    const { body } = await api.ask('/market', { key: await key(plan) });
    expect(series.map(({ loaded }) => loaded)).toEqual(series.map(() => 'recent'));
    for (const [code, { closes }] of published) {
      const row = (body.symbols as Json[]).find(({ symbol }) => symbol === code)!;
      expect(row.quote).toMatchObject({ rate: newest, before: { close: newest + 1 } });
      expect([code, row.closes]).toEqual([
        code,
        Array.from({ length: closes }, (_, i) => newest + closes - i),
      ]);
    }
    clock.time += 5_000;
  });
});

function dateAgo(now: number, days: number): string {
  return new Date(now - days * DAY).toISOString().slice(0, 10);
}
