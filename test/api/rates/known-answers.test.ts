import { expect, test } from 'bun:test';
import { apiOn } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

onEachEngine('the day crude oil was below zero', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('WTIOIL-SPOT', { '2020-04-16': 19.82, '2020-04-17': 18.31, '2020-04-20': -36.98 });
  });

  test('historical gives the negative price', async () => {
    const { body } = await api.ask('/rates/historical?symbols=WTIOIL-SPOT&date=2020-04-20');
    expect(body).toEqual({
      success: true,
      date: '2020-04-20',
      rates: { 'WTIOIL-SPOT': { open: -36.98, high: -36.98, low: -36.98, close: -36.98 } },
      metadata: { 'WTIOIL-SPOT': { unit: 'Bbl', quote: 'USD', date: '2020-04-20', source: 'test' } },
    });
  });

  test('fluctuation gives the exact change and the percentage of the positive start', async () => {
    const path =
      '/rates/fluctuation?symbols=WTIOIL-SPOT&startDate=2020-04-17&endDate=2020-04-20&metadata=false';
    expect((await api.ask(path)).text).toBe(
      '{"success":true,"startDate":"2020-04-17","endDate":"2020-04-20","rates":{"WTIOIL-SPOT":{"startRate":18.31,"endRate":-36.98,"change":-55.29,"changePercent":-301.9661}}}',
    );
  });
});
