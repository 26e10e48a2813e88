import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onEachEngine } from '../support/ledger.ts';
import { openTestService, type TestService } from '../support/service.ts';

onEachEngine('the day crude oil was below zero', (engine) => {
  let service: TestService;
  let key: string;
  beforeAll(async () => {
    service = await openTestService(engine);
    key = await service.key();
    await service.publish('WTIOIL-SPOT', { '2020-04-16': 19.82, '2020-04-17': 18.31, '2020-04-20': -36.98 });
  });
  afterAll(() => service.close());

  test('historical gives the negative price', async () => {
    const answer = await service.get('/rates/historical?symbols=WTIOIL-SPOT&date=2020-04-20', key);
    expect(await answer.json()).toEqual({
      success: true,
      date: '2020-04-20',
      rates: { 'WTIOIL-SPOT': { open: -36.98, high: -36.98, low: -36.98, close: -36.98 } },
      metadata: { 'WTIOIL-SPOT': { unit: 'Bbl', quote: 'USD', date: '2020-04-20', source: 'test' } },
    });
  });

  test('fluctuation gives the exact change and the percentage of the positive start', async () => {
    const path =
      '/rates/fluctuation?symbols=WTIOIL-SPOT&startDate=2020-04-17&endDate=2020-04-20&metadata=false';
    expect(await (await service.get(path, key)).text()).toBe(
      '{"success":true,"startDate":"2020-04-17","endDate":"2020-04-20","rates":{"WTIOIL-SPOT":{"startRate":18.31,"endRate":-36.98,"change":-55.29,"changePercent":-301.9661}}}',
    );
  });
});
