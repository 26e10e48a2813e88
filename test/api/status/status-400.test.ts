import { expect, test } from 'bun:test';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

const HISTORICAL = '/rates/historical?symbols=XAU';
const SERIES = '/rates/time-series?symbols=XAU';
const CHANGE = '/rates/fluctuation?symbols=XAU';
const MAY = 'startDate=2024-05-01&endDate=2024-05-10';

/** An invalid request, its code, and what the message must contain. */
const WRONG: [path: string, code: string, says: string][] = [
  ['/rates/latest', 'missing_parameter', '"symbols"'],
  ['/rates/latest?Symbols=XAU', 'missing_parameter', '"symbols"'],
  ['/rates/latest?symbols[]=XAU', 'missing_parameter', '"symbols"'],
  ['/rates/latest?symbols=', 'invalid_symbols', 'received ""'],
  ['/rates/latest?symbols=,%20,,', 'invalid_symbols', 'received ", ,,"'],
  ['/rates/historical?date=2024-05-14', 'missing_parameter', '"symbols"'],
  [HISTORICAL, 'missing_parameter', '"date"'],
  [`${HISTORICAL}&date=`, 'missing_parameter', '"date"'],
  [`${HISTORICAL}&date=2023-02-29`, 'invalid_date', '2023-02-29'],
  [`${HISTORICAL}&date=2024-04-31`, 'invalid_date', '2024-04-31'],
  [`${HISTORICAL}&date=2024-13-01`, 'invalid_date', '2024-13-01'],
  [`${HISTORICAL}&date=1899-12-31`, 'invalid_date', '1900-01-01'],
  [`${HISTORICAL}&date=2200-01-01`, 'invalid_date', '2199-12-31'],
  [`${HISTORICAL}&date=14-05-2024`, 'invalid_date', 'YYYY-MM-DD'],
  [`${HISTORICAL}&date=2024-5-1`, 'invalid_date', '2024-5-1'],
  [`${HISTORICAL}&date=2024-05-14T00:00:00Z`, 'invalid_date', 'YYYY-MM-DD'],
  [`${HISTORICAL}&date=latest`, 'invalid_date', 'latest'],
  [`${HISTORICAL}&date=2024-05-14%0AT`, 'invalid_date', 'YYYY-MM-DD'],
  [`${HISTORICAL}&date=%D9%A2%D9%A0%D9%A2%D9%A4-05-14`, 'invalid_date', 'YYYY-MM-DD'],
  [`${HISTORICAL}&date=2024-05-16`, 'date_in_future', '2024-05-15'],
  [`${HISTORICAL}&date=2199-12-31`, 'date_in_future', '2199-12-31'],
  [`${HISTORICAL}&date=2024-05-14&date=2024-05-14`, 'repeated_parameter', '"date"'],
  [`${SERIES}&endDate=2024-05-10`, 'missing_parameter', '"startDate"'],
  [`${SERIES}&startDate=2024-05-01`, 'missing_parameter', '"endDate"'],
  [`${SERIES}&startDate=2024-05-01&endDate=x`, 'invalid_date', '"endDate"'],
  [`${SERIES}&startDate=2024-05-10&endDate=2024-05-09`, 'invalid_range', '2024-05-10'],
  [`${SERIES}&startDate=2024-05-16&endDate=2024-05-17`, 'date_in_future', '"startDate"'],
  [`${SERIES}&startDate=2024-05-01&endDate=2024-06-01`, 'range_too_long', '30'],
  [`${SERIES}&${MAY}&startDate=2024-05-01`, 'repeated_parameter', '"startDate"'],
  [`${SERIES}&${MAY}&endDate=2024-05-10`, 'repeated_parameter', '"endDate"'],
  [`${SERIES}&${MAY}&metadata=false&metadata=true`, 'repeated_parameter', '"metadata"'],
  [`${CHANGE}&startDate=2024-05-10&endDate=2024-05-09`, 'invalid_range', '2024-05-09'],
  [`${CHANGE}&startDate=2024-05-16&endDate=2024-05-17`, 'date_in_future', '2024-05-16'],
  [`${CHANGE}&startDate=2024-02-30&endDate=2024-05-17`, 'invalid_date', '2024-02-30'],
  [`${CHANGE}&endDate=2024-05-17`, 'missing_parameter', '"startDate"'],
];

onEachEngine('400', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 2358.2 });
  });

  for (const [path, code, says] of WRONG) {
    test(`${path} is ${code}`, async () => {
      expect(expectRefusal(await api.ask(path), 400, code)).toContain(says);
    });
  }

  test('more symbols than the plan allows are refused with both numbers', async () => {
    const free = await api.service.key('free'); // allows five symbols per request
    const ask = (symbols: string) => api.ask(`/rates/latest?symbols=${symbols}`, { key: free });
    const message = expectRefusal(await ask('A,B,C,D,E,F'), 400, 'too_many_symbols');
    expect(message).toMatch(/names 6 symbols .* allows 5/);
    expect((await ask('XAU,xau, Xau ,XAU,,XAU,XAU')).status).toBe(200);
  });

  test('too long a range is referred to long history only if the plan has it', async () => {
    await api.service.setPlan({ name: 'short', history: false });
    const key = await api.service.key('short');
    const range = 'symbols=XAU&startDate=2024-01-01&endDate=2024-05-01';
    const ask = async (path: string, by: string) =>
      expectRefusal(await api.ask(`${path}?${range}`, { key: by }), 400, 'range_too_long');
    expect(await ask('/rates/time-series', api.key)).toContain('/rates/history');
    for (const path of ['/rates/time-series', '/rates/statistics', '/rates/revisions']) {
      expect(await ask(path, key), path).not.toContain('/rates/history');
    }
  });

  test('parameters are checked before symbols, and symbols before data', async () => {
    const code = async (path: string) => (await api.ask(path)).body.code;
    expect(await code('/rates/historical?symbols=NOPE&date=x')).toBe('invalid_date');
    expect(await code('/rates/historical?symbols=NOPE&date=2199-01-01')).toBe('date_in_future');
    expect(await code('/rates/latest?symbols=NOPE&metadata=1&metadata=2')).toBe('repeated_parameter');
    expect(await code('/rates/latest?symbols=NOPE,ZINC')).toBe('unknown_symbol');
  });

  test('a very long value is echoed only in part', async () => {
    const message = expectRefusal(
      await api.ask(`${HISTORICAL}&date=${'9'.repeat(5000)}`),
      400,
      'invalid_date',
    );
    expect(message.length).toBeLessThan(300);
  });
});
