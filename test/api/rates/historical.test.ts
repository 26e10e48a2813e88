import { expect, test } from 'bun:test';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE, NOON } from '../../support/service.ts';

onEachEngine('GET /rates/historical', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', {
      '2024-05-13': [2360.1, 2361, 2332.2, 2336.1],
      '2024-05-14': [2336.1, 2359.9, 2335, 2358.2],
    });
    await service.publish('CORN', { '2024-05-14': [472, 473.5, 466.25, 467.25] }, 'CBOT');
    await service.publish('XAG', { '2020-01-02': 18.05 });
  });

  test('without metadata the body is exactly as specified', async () => {
    const { text } = await api.ask('/rates/historical?symbols=XAU,CORN&date=2024-05-14&metadata=false');
    expect(text).toBe(
      '{"success":true,"date":"2024-05-14","rates":{"XAU":{"open":2336.1,"high":2359.9,"low":2335,"close":2358.2},"CORN":{"open":472,"high":473.5,"low":466.25,"close":467.25}}}',
    );
  });

  test('metadata has unit, quote, the day of the bar, and its source', async () => {
    const { text } = await api.ask('/rates/historical?symbols=CORN&date=2024-05-14');
    expect(text).toEndWith(
      ',"metadata":{"CORN":{"unit":"Bu","quote":"USX","date":"2024-05-14","source":"CBOT"}}}',
    );
  });

  test('today is the bar so far', async () => {
    const { service } = api;
    await service.tick('PL', 1065, NOON - 3 * MINUTE);
    await service.tick('PL', 1071, NOON - 2 * MINUTE);
    await service.tick('PL', 1068, NOON - MINUTE);
    const { body } = await api.ask('/rates/historical?symbols=PL&date=2024-05-15');
    expect(body.rates).toEqual({ PL: { open: 1065, high: 1071, low: 1065, close: 1068 } });
  });

  test('a correction replaces the day', async () => {
    await api.service.publish('PA', { '2024-05-13': 961, '2024-05-14': 970 });
    await api.service.publish('PA', { '2024-05-13': 962 });
    const { body } = await api.ask('/rates/historical?symbols=PA&date=2024-05-13');
    expect(body.rates).toEqual({ PA: { open: 962, high: 962, low: 962, close: 962 } });
  });

  test('every symbol without a bar is named with its first day, and its last if that is before the day', async () => {
    const path = '/rates/historical?symbols=XAU,CORN,XAG,ZINC&date=2024-05-13';
    const message = expectRefusal(await api.ask(path), 404, 'no_data');
    expect(message).toContain('CORN (its data starts on 2024-05-14)');
    expect(message).toContain('XAG (its data starts on 2020-01-02 and ends on 2020-01-02)');
    expect(message).toContain('ZINC');
    expect(message).not.toContain('XAU');
  });

  test('a day before the first bar is no_data', async () => {
    expectRefusal(await api.ask('/rates/historical?symbols=XAU&date=1900-01-01'), 404, 'no_data');
  });
});
