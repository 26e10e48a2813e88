import { expect, test } from 'bun:test';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE } from '../../support/service.ts';

onEachEngine('GET /rates/time-series', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-10': 3, '2024-05-13': 4, '2024-05-14': 5 });
    await service.publish('XAG', { '2024-05-09': 1, '2024-05-13': 2 }, 'mint');
  });
  const range = (first: string, last: string, rest = '') =>
    `/rates/time-series?symbols=XAG,XAU&startDate=${first}&endDate=${last}${rest}`;
  const flat = (price: number) => ({ open: price, high: price, low: price, close: price });

  test('without metadata the body is exactly as specified: days ascending, symbols as requested, both dates echoed', async () => {
    const { text } = await api.ask(range('2024-05-08', '2024-05-14', '&metadata=false'));
    const rates = {
      '2024-05-09': { XAG: flat(1) },
      '2024-05-10': { XAU: flat(3) },
      '2024-05-13': { XAG: flat(2), XAU: flat(4) },
      '2024-05-14': { XAU: flat(5) },
    };
    expect(text).toBe(
      JSON.stringify({ success: true, startDate: '2024-05-08', endDate: '2024-05-14', rates }),
    );
  });

  test('metadata has unit, quote and source of each symbol', async () => {
    const { text } = await api.ask(range('2024-05-08', '2024-05-14'));
    expect(text).toEndWith(
      ',"metadata":{"XAG":{"unit":"T.oz","quote":"USD","source":"mint"},"XAU":{"unit":"T.oz","quote":"USD","source":"test"}}}',
    );
  });

  test('a range with bars of two sources names both', async () => {
    await api.service.publish('PL', { '2024-05-10': 1 }, 'first');
    await api.service.publish('PL', { '2024-05-13': 1 }, 'second');
    const { body } = await api.ask('/rates/time-series?symbols=PL&startDate=2024-05-10&endDate=2024-05-14');
    expect(body.metadata).toMatchObject({ PL: { source: 'first, second' } });
  });

  test('a range without trading is empty, not an error', async () => {
    const { status, body } = await api.ask(range('2024-05-11', '2024-05-12', '&metadata=false'));
    expect(status).toBe(200);
    expect(body).toEqual({ success: true, startDate: '2024-05-11', endDate: '2024-05-12', rates: {} });
  });

  test('a symbol without data is absent, not an error', async () => {
    const { body } = await api.ask(
      '/rates/time-series?symbols=ZINC,XAU&startDate=2024-05-14&endDate=2024-05-14&metadata=false',
    );
    expect(body.rates).toEqual({ '2024-05-14': { XAU: flat(5) } });
  });

  test('30 days between the dates are accepted, 31 are not, and the message names the limit', async () => {
    expect((await api.ask(range('2024-04-14', '2024-05-14'))).status).toBe(200);
    const message = expectRefusal(await api.ask(range('2024-04-13', '2024-05-14')), 400, 'range_too_long');
    expect(message).toContain('31 days');
    expect(message).toContain('30 days');
  });

  test('the span is that of the requested dates, even if the end is in the future', async () => {
    expectRefusal(await api.ask(range('2024-05-14', '2024-06-14')), 400, 'range_too_long');
  });

  test('a plan may allow a longer span', async () => {
    await api.service.setPlan({ name: 'long', maxSpanDays: 400 });
    const key = await api.service.key('long');
    expect((await api.ask(range('2023-05-14', '2024-05-14'), { key })).status).toBe(200);
    const refused = await api.ask(range('2023-04-01', '2024-05-14'), { key });
    expect(expectRefusal(refused, 400, 'range_too_long')).toContain('400 days');
  });

  test('an end in the future is echoed and means today', async () => {
    await api.service.tick('XAU', 9);
    const { body } = await api.ask(range('2024-05-14', '2024-05-30', '&metadata=false'));
    expect(body).toMatchObject({ startDate: '2024-05-14', endDate: '2024-05-30' });
    expect(body.rates).toEqual({ '2024-05-14': { XAU: flat(5) }, '2024-05-15': { XAU: flat(9) } });
  });

  test('a bar of a future day is not visible before that day', async () => {
    const { service } = api;
    await service.publish('PA', { '2024-05-14': 1, '2024-05-16': 2 });
    const days = async () => {
      const path = '/rates/time-series?symbols=PA&startDate=2024-05-14&endDate=2024-05-30&metadata=false';
      return Object.keys((await api.ask(path)).body.rates as object);
    };
    expect(await days()).toEqual(['2024-05-14']);
    service.clock.time += 24 * 60 * MINUTE;
    expect(await days()).toEqual(['2024-05-14', '2024-05-16']);
    service.clock.time -= 24 * 60 * MINUTE;
  });

  test('a range may be a single day', async () => {
    const { body } = await api.ask(range('2024-05-13', '2024-05-13'));
    expect(body.rates).toEqual({ '2024-05-13': { XAG: flat(2), XAU: flat(4) } });
  });
});
