import { expect, test } from 'bun:test';
import { parseDay, printDay } from '../../../src/market/day.ts';
import { apiOn, expectRefusal, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

const CRACK = '{XAU}*42-{XAG}';
const encoded = encodeURIComponent;

/** Closes on most days of eight years. */
function history(gap: number): Record<string, number> {
  const last = parseDay('2024-05-14')!;
  const closes: Record<string, number> = {};
  for (let day = last - 3_000; day <= last; day++) {
    if (day % gap !== 0) closes[printDay(day)] = (((day * gap) % 9_973) + 100) / 100;
  }
  return closes;
}

onEachEngine('formulas', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', {
      '2024-05-10': 2.4531,
      '2024-05-13': 2.5,
      '2024-05-14': [2.5, 2.7, 2.4, 2.6],
    });
    await service.publish('XAG', { '2024-05-10': 78.15, '2024-05-14': 80.01 }, 'other');
    await service.publish('CORN', { '2024-05-14': 0.3 });
    await service.publish('WTIOIL-SPOT', { '2024-05-13': 10, '2024-05-14': 0 });
    await service.publish('PL', history(3));
    await service.publish('PA', history(5));
    await service.publish('EUR/USD', { '2024-05-10': 1.25, '2024-05-14': 1.25 });
  });

  test('latest has the exact value, under the formula as it is spelled', async () => {
    const { body } = await api.ask(`/rates/latest?symbols=${encoded('{xau} * 42 - {XAG}')},XAU`);
    expect(body.rates).toEqual({ [CRACK]: 29.19, XAU: 2.6 });
    expect(body.metadata).toMatchObject({
      [CRACK]: { unit: 'T.oz', quote: 'USD', at: '2024-05-14', source: 'test, other' },
    });
    const plus = await api.ask('/rates/latest?symbols={XAU}+{CORN}&metadata=false');
    expect(plus.body.rates).toEqual({ '{XAU}+{CORN}': 2.9 });
    const ratio = await api.ask('/rates/latest?symbols={XAG}/{XAU}');
    expect(ratio.body.rates).toEqual({ '{XAG}/{XAU}': 30.7730769230769 });
    expect(ratio.body.metadata).toMatchObject({ '{XAG}/{XAU}': { unit: 'none', quote: 'none' } });
  });

  test('historical computes from closes of the same day, and falls back to the last common day', async () => {
    const at = async (date: string) =>
      (await api.ask(`/rates/historical?symbols=${encoded(CRACK)}&date=${date}`)).body as Record<
        string,
        Json
      >;
    const { rates, metadata } = await at('2024-05-13'); // silver has no bar
    expect(rates![CRACK]).toEqual({ open: 24.8802, high: 24.8802, low: 24.8802, close: 24.8802 });
    expect(metadata![CRACK]).toMatchObject({ date: '2024-05-10' });
    expect((await at('2024-05-14')).rates![CRACK]).toMatchObject({ open: 29.19, close: 29.19 });
    expectRefusal(await api.ask('/rates/historical?symbols={XAU}-{XAG}&date=2024-05-01'), 404, 'no_data');
  });

  test('errors and warnings name the first and last day that symbols of different calendars have in common', async () => {
    const message = async (path: string, code: string) =>
      expectRefusal(await api.ask(`/rates/${path}`), 404, code);
    // The TIN of these tests has a price in each month, on a day on which ZINC has none in the first and in the last.
    await api.service.publish('TIN', { '2023-01-01': 1, '2023-02-01': 2, '2023-03-01': 3, '2023-04-01': 4 });
    await api.service.publish('ZINC', { '2022-12-30': 1, '2023-02-01': 2, '2023-03-01': 3, '2023-04-03': 4 });
    await api.service.publish('SALMON', { '2023-01-31': 1, '2023-03-31': 2 });
    const early = await message('historical?symbols={TIN}-{ZINC}&date=2022-01-03', 'no_data');
    expect(early).toContain('(its data starts on 2023-02-01)');
    const late = await message('historical?symbols={TIN}-{ZINC}&date=2024-05-01', 'no_data');
    expect(late).toContain('(its data starts on 2023-02-01 and ends on 2023-03-01)');
    const range = 'startDate=2022-12-01&endDate=2022-12-05';
    const { body } = await api.ask(`/rates/time-series?symbols={TIN}-{ZINC}&${range}`);
    expect(body.warnings).toEqual(['The data of {TIN}-{ZINC} starts on 2023-02-01, after this range.']);
    const apart = await message('historical?symbols={TIN}-{SALMON}&date=2024-05-01', 'no_data');
    expect(apart).toContain('{TIN}-{SALMON} (it has no data yet)');
  });

  test('time-series, fluctuation, history and statistics have the days that all symbols have', async () => {
    const range = 'startDate=2024-05-10&endDate=2024-05-14';
    const series = (await api.ask(`/rates/time-series?symbols=${encoded(CRACK)},XAU&${range}`)).body;
    const rates = series.rates as Record<string, Record<string, Json>>;
    expect(Object.keys(rates)).toEqual(['2024-05-10', '2024-05-13', '2024-05-14']);
    expect(Object.keys(rates['2024-05-13']!)).toEqual(['XAU']);
    expect(rates['2024-05-10']![CRACK]).toMatchObject({ close: 24.8802 });
    const change = (await api.ask(`/rates/fluctuation?symbols=${encoded(CRACK)}&${range}`)).body;
    expect((change.rates as Record<string, Json>)[CRACK]).toMatchObject({
      startRate: 24.8802,
      change: 4.3098,
    });
    const csv = await api.ask(`/rates/history?symbols=${encoded(CRACK)}&${range}&interval=month&format=csv`);
    expect(csv.text).toContain(
      `2024-05-01,${CRACK},24.8802,29.19,24.8802,29.19,T.oz,USD,1,"test, other",27.0351,2`,
    );
    const found = (await api.ask(`/rates/statistics?symbols=${encoded(CRACK)}&${range}`)).body;
    expect((found.statistics as Record<string, Json>)[CRACK]).toMatchObject({ count: 2, mean: 27.0351 });
  });

  test('a long history, its table and the past agree with a simple computation', async () => {
    const path = '/rates/history?symbols={PL}*2-{PA},PL&startDate=2016-01-01&endDate=2024-05-14';
    const [pl, pa] = [history(3), history(5)];
    const { text } = await api.ask(`${path}&format=csv&layout=wide`);
    const rows = text
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(','));
    expect(rows.length).toBeGreaterThan(1_900);
    for (const [date, spread] of rows) {
      const value = Math.round(pl[date!]! * 200) - Math.round((pa[date!] ?? 0) * 100);
      expect(spread).toBe(pa[date!] === undefined ? '' : String(value / 100));
    }
    expect((await api.ask(`${path}&format=csv&layout=wide&asOf=2024-05-15T16:00:00Z`)).text).toBe(text);
    const page = (await api.ask(path)).body.rates as Json[];
    expect(page[0]).toMatchObject({ date: rows[0]![0]! });
  });

  test('asOf looks as far back for a day that all symbols have as a request without it', async () => {
    await api.service.publish('ZINC', { '2024-03-01': 2_400, '2024-05-14': 2_900 });
    await api.service.publish('AL-AVG', { '2024-03-01': 2_300 });
    await api.service.publish('EUR/USD', { '2024-03-01': 1.25 });
    const spread = encoded('{ZINC}-{AL-AVG}');
    for (const path of [
      `/rates/historical?symbols=${spread}&date=2024-05-14`,
      `/rates/fluctuation?symbols=${spread}&startDate=2024-05-10&endDate=2024-05-14`,
    ]) {
      for (const rest of ['', '&quote=EUR']) {
        const now = await api.ask(path + rest);
        expect(now.status).toBe(200);
        expect((await api.ask(`${path}${rest}&asOf=2024-05-15T16:00:00Z`)).text).toBe(now.text);
      }
    }
  });

  test('a correction of any symbol in it changes the response and its tag', async () => {
    const path = '/rates/historical?symbols={XAU}-{CORN}&date=2024-05-14';
    const before = await api.ask(path);
    await api.service.publish('CORN', { '2024-05-14': 0.4 });
    const after = await api.ask(path);
    expect(after.text).not.toBe(before.text);
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
  });

  test('with quote, each price is converted first', async () => {
    const { body } = await api.ask(`/rates/latest?symbols=${encoded(CRACK)}&quote=EUR`);
    expect(body.rates).toEqual({ [CRACK]: 23.352 });
    expect(body.metadata).toMatchObject({ [CRACK]: { quote: 'EUR' } });
    const withUnit = await api.ask(`/rates/latest?symbols=${encoded(CRACK)}&unit=kg`);
    expect(expectRefusal(withUnit, 400, 'invalid_unit')).toContain(`${CRACK} (a formula takes no unit)`);
  });

  test('a moving average has as many digits as an average', async () => {
    for (const rest of ['', '&quote=EUR']) {
      const path = `/rates/history?symbols={XAG}/{XAU}&startDate=2024-05-10&endDate=2024-05-14${rest}`;
      const days = (await api.ask(`${path}&moving=2`)).body.rates as { moving?: number }[];
      const [month] = (await api.ask(`${path}&interval=month`)).body.rates as { average: number }[];
      expect(days.at(-1)!.moving).toBe(month!.average);
    }
  });

  test('a delayed plan sees the formula of what it may see', async () => {
    const { service } = api;
    await service.setPlan({ name: 'late', delaySeconds: 3_600, maxSymbols: 2 });
    const key = await service.key('late');
    await service.tick('XAG', 99, service.clock.time - 60_000);
    const path = '/rates/latest?symbols={XAG}*1&metadata=false';
    expect((await api.ask(path)).body.rates).toEqual({ '{XAG}*1': 99 });
    expect((await api.ask(path, { key })).body.rates).toEqual({ '{XAG}*1': 80.01 });
    const three = await api.ask('/rates/latest?symbols={XAU}-{XAG},CORN', { key });
    expect(expectRefusal(three, 400, 'too_many_symbols')).toContain('3 symbols');
  });

  test('what cannot be computed is refused with the reason', async () => {
    const refused = async (formula: string) =>
      expectRefusal(await api.ask(`/rates/latest?symbols=${encoded(formula)}`), 400, 'invalid_formula');
    expect(await refused('{XAU}/0')).toContain('it divides by zero');
    expect(await refused('{XAU}/({XAG}-{XAG})')).toContain('it divides by zero');
    expect(await refused('{XAU}/{WTIOIL-SPOT}')).toContain('it divides by zero at the newest prices');
    expect(await refused(`{XAU}${'*999999999999999'.repeat(30)}`)).toContain('its value is too large');
    expect(await refused('{XAU')).toContain('a closing brace is missing');
    expect(await refused(Array.from({ length: 60 }, (_, i) => `{S${i}}`).join('+'))).toContain('20 symbols');
    expect(await refused(`${'('.repeat(200)}{XAU}${')'.repeat(200)}`)).toContain('nested');
    expect(await refused(`{XAU}${'+1'.repeat(1_000)}`)).toContain('500 are allowed');
    expect(
      expectRefusal(await api.ask('/rates/latest?symbols={NOPE}-{XAU}'), 404, 'unknown_symbol'),
    ).toContain('NOPE');
    for (const code of ['{XAU}-{XAG}', 'GOLDSILVER']) {
      const revisions = await api.ask(`/rates/revisions?symbols=${code}&date=2024-05-14`);
      const message = expectRefusal(revisions, 400, 'invalid_formula');
      expect(message).toEndWith('this endpoint takes only symbols. Send the codes of the symbols in it.');
    }
    expect(await refused('{GOLDSILVER}*2')).toEndWith('GET /symbols lists what GOLDSILVER is made of.');
    expect((await api.ask(`/rates/latest?symbols=${'{XAU}%2B'.repeat(1_100)}`)).status).toBe(414);
  });

  test('a day on which it divides by zero has no value, like a day without a price', async () => {
    const formula = '{XAU}/{WTIOIL-SPOT}';
    const range = 'startDate=2024-05-10&endDate=2024-05-14';
    const rows = (await api.ask(`/rates/history?symbols=${formula}&${range}`)).body.rates;
    expect(rows).toMatchObject([{ date: '2024-05-13', close: 0.25, count: 1 }]);
    const { body } = await api.ask(`/rates/historical?symbols=${formula}&date=2024-05-14`);
    expect(body.rates).toMatchObject({ [formula]: { close: 0.25 } });
    expect(body.metadata).toMatchObject({ [formula]: { date: '2024-05-13' } });
  });

  test('a long history of a quotient with a zero has all other days, in pages and in a table', async () => {
    const zeros = Object.fromEntries(
      Object.entries(history(7)).map(([day, close], i) => [day, i % 50 ? close : 0]),
    );
    await api.service.publish('NG-SPOT', zeros);
    const path = `/rates/history?symbols=${encoded('{PL}/{NG-SPOT}')}&startDate=2016-01-01&endDate=2024-05-14`;
    const rates: Json[] = [];
    for (let cursor = ''; ; ) {
      const { body, status } = await api.ask(`${path}${cursor}`);
      expect(status).toBe(200);
      rates.push(...(body.rates as Json[]));
      if (!body.next) break;
      cursor = `&cursor=${body.next}`;
    }
    const pl = history(3);
    const expected = Object.keys(pl).filter((day) => zeros[day] !== undefined && zeros[day] !== 0);
    expect(rates.map(({ date }) => date)).toEqual(expected);
    const csv = (await api.ask(`${path}&format=csv`)).text.trimEnd().split('\r\n');
    expect(csv.slice(1).map((line) => line.slice(0, 10))).toEqual(expected);
  });
});
