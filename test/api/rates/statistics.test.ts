import { expect, test } from 'bun:test';
import { parseDay, printDay } from '../../../src/market/day.ts';
import { apiOn, expectRefusal, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

const RANGE = 'startDate=2024-05-06&endDate=2024-05-10';

/** Closes on most days of eight years. */
function history(seed: number): Record<string, number> {
  const last = parseDay('2024-05-14')!;
  const closes: Record<string, number> = {};
  for (let day = last - 3_000; day <= last; day++) {
    if (day % seed !== 0) closes[printDay(day)] = ((day * seed) % 971) + 500;
  }
  return closes;
}

onEachEngine('GET /rates/statistics', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', {
      '2024-05-06': 100,
      '2024-05-07': 110,
      '2024-05-08': 99,
      '2024-05-09': 108.9,
    });
    await service.publish('XAG', {
      '2024-05-06': 10,
      '2024-05-07': 11,
      '2024-05-08': 9.9,
      '2024-05-09': 10.89,
    });
    await service.publish('WTIOIL-SPOT', { '2024-05-07': 18.31, '2024-05-08': -36.98, '2024-05-09': 8.91 });
    await service.publish('CORN', { '2024-05-08': 450 });
    for (const code of ['PL', 'PA', 'TIN']) await service.publish(code, history(code.length + 5));
    await service.publish('EUR/USD', { '2024-05-06': 1.25, '2024-05-08': 1 });
  });
  const path = (symbols: string, rest = '') => `/rates/statistics?symbols=${symbols}&${RANGE}${rest}`;

  test('has the statistics of each symbol and the correlations', async () => {
    const { body } = await api.ask(path('XAU,XAG'));
    expect(body).toEqual({
      success: true,
      startDate: '2024-05-06',
      endDate: '2024-05-10',
      statistics: {
        XAU: {
          count: 4,
          last: 108.9,
          lastDate: '2024-05-09',
          mean: 104.48, // 104.475
          median: 104.45,
          standardDeviation: 5.7766051,
          volatility: 1.8391773,
          minimum: 99,
          minimumDate: '2024-05-08',
          maximum: 110,
          maximumDate: '2024-05-07',
          maximumDrawdown: 0.1,
          peakDate: '2024-05-07',
          troughDate: '2024-05-08',
        },
        XAG: (body.statistics as Record<string, Json>).XAG!,
      },
      correlation: { XAU: { XAU: 1, XAG: 1 }, XAG: { XAU: 1, XAG: 1 } },
      metadata: {
        XAU: { unit: 'T.oz', quote: 'USD', source: 'test' },
        XAG: { unit: 'T.oz', quote: 'USD', source: 'test' },
      },
    });
    expect((body.statistics as Record<string, Json>).XAG).toMatchObject({
      mean: 10.448,
      maximumDrawdown: 0.1,
    });
  });

  test('leaves out what is not defined: one close, and closes below zero', async () => {
    const { body } = await api.ask(path('CORN,WTIOIL-SPOT', '&metadata=false'));
    const { CORN, 'WTIOIL-SPOT': oil } = body.statistics as Record<string, Json>;
    expect(Object.keys(CORN!)).not.toContain('standardDeviation');
    expect(Object.keys(CORN!)).not.toContain('peakDate');
    expect(oil).toMatchObject({
      count: 3,
      minimum: -36.98,
      maximumDrawdown: 3.01966139,
      troughDate: '2024-05-08',
    });
    expect(oil).not.toHaveProperty('volatility');
    expect(body.correlation).toEqual({ CORN: {}, 'WTIOIL-SPOT': {} });
    expect(body).not.toHaveProperty('metadata');
  });

  test('is in every format, and as of a past moment the same', async () => {
    const { text } = await api.ask(path('XAU,CORN', '&format=csv'));
    const [head, gold, corn] = text.split('\r\n');
    expect(head).toBe(
      'symbol,startDate,endDate,count,last,lastDate,mean,median,standardDeviation,volatility,minimum,minimumDate,maximum,maximumDate,maximumDrawdown,peakDate,troughDate,unit,quote,source,correlation_XAU,correlation_CORN',
    );
    expect(gold).toBe(
      'XAU,2024-05-06,2024-05-10,4,108.9,2024-05-09,104.48,104.45,5.7766051,1.8391773,99,2024-05-08,110,2024-05-07,0.1,2024-05-07,2024-05-08,T.oz,USD,test,1,',
    );
    expect(corn).toContain(',450,450,,,450,2024-05-08,450,2024-05-08,0,,,');
    const lines = (await api.ask(path('XAU', '&format=ndjson'))).text;
    expect(JSON.parse(lines)).toMatchObject({ symbol: 'XAU', mean: 104.48, correlation_XAU: 1 });
    const past = '&asOf=2024-05-15T16:00:00Z';
    expect((await api.ask(path('XAU,CORN', `&format=csv${past}`))).text).toBe(text);
    expect((await api.ask(path('XAU,XAG', past))).text).toBe((await api.ask(path('XAU,XAG'))).text);
  });

  test('a long range has the same statistics in JSON, CSV and from the ledger, and 304 is free', async () => {
    const long = '/rates/statistics?symbols=PL,PA,TIN&startDate=2010-01-01&endDate=2024-05-14';
    const { body, headers } = await api.ask(long);
    const csv = (await api.ask(`${long}&format=csv`)).text.trimEnd().split('\r\n');
    const names = csv[0]!.split(',');
    for (const line of csv.slice(1)) {
      const row = Object.fromEntries(line.split(',').map((cell, i) => [names[i]!, cell]));
      const record = (body.statistics as Record<string, Json>)[row.symbol!]!;
      for (const [name, value] of Object.entries(record)) expect(row[name]).toBe(String(value));
      const own = (body.correlation as Record<string, Json>)[row.symbol!]!;
      for (const [code, value] of Object.entries(own)) expect(row[`correlation_${code}`]).toBe(String(value));
    }
    expect((await api.ask(`${long}&asOf=2024-05-15T16:00:00Z`)).body.statistics).toEqual(body.statistics);
    const same = await api.ask(long, { headers: { 'if-none-match': headers.get('etag')! } });
    expect(same.status).toBe(304);
  });

  test('a corrected interval of publication changes the volatility, and the tag of a long range', async () => {
    const long = '/rates/statistics?symbols=TIN&startDate=2010-01-01&endDate=2024-05-14';
    const { ledger, core } = api.service;
    const volatilityOf = ({ body }: { body: Json }) =>
      (body.statistics as Record<string, Json>).TIN!.volatility;
    const daily = (await ledger.symbols.list()).find(({ code }) => code === 'TIN')!;
    const before = await api.ask(long);
    await ledger.symbols.upsert([{ ...daily, updateInterval: 'month' }], []);
    await core.follow();
    const after = await api.ask(long, { headers: { 'if-none-match': before.headers.get('etag')! } });
    await ledger.symbols.upsert([daily], []);
    await core.follow();
    expect(after.status).toBe(200);
    expect(volatilityOf(after)).not.toBe(volatilityOf(before));
  });

  test('it also changes the tag of a Parquet file of the past', async () => {
    const { ledger, core, clock, publish } = api.service;
    await publish(
      'LEAD-SPOT',
      { '2024-05-06': 2_000, '2024-05-07': 2_100, '2024-05-08': 2_050 },
      'test',
      clock.time - 5 * 3_600_000,
    );
    const lead = (await ledger.symbols.list()).find(({ code }) => code === 'LEAD-SPOT')!;
    const tagAs = async (updateInterval: 'day' | 'month') => {
      await ledger.symbols.upsert([{ ...lead, updateInterval }], []);
      await core.follow();
      const key = await api.service.key(); // who has paid for the file gets the same one again
      const past = path('LEAD-SPOT', '&format=parquet&asOf=2024-05-15T14:00:00Z');
      const { headers } = await api.ask(past, { key });
      return headers.get('etag')!;
    };
    const [daily, monthly] = [await tagAs('day'), await tagAs('month')];
    await ledger.symbols.upsert([lead], []);
    await core.follow();
    expect(daily).toMatch(/^"/);
    expect(monthly).not.toBe(daily);
  });

  test('a formula whose symbols had their last common day years ago is a 404, also beside a long range', async () => {
    await api.service.publish('ZINC', { '2015-03-02': 2_000 });
    await api.service.publish('TITAN', history(11));
    const recent = 'startDate=2023-11-01&endDate=2024-05-14';
    const symbols = '/rates/statistics?symbols=TITAN,{TITAN}-{ZINC}';
    for (const format of ['json', 'csv']) {
      const reply = await api.ask(`${symbols}&${recent}&format=${format}`);
      expectRefusal(reply, 404, 'no_data');
    }
  });

  test('mean and median are rounded as averages are, also of converted closes and of formulas', async () => {
    for (const rest of ['PL&quote=USX', 'PL&unit=Lb', '{PL}/{PA}', '{PL}-{PA}&quote=USX']) {
      const range = `symbols=${rest}&startDate=2016-01-01&endDate=2016-12-31`;
      const [code] = rest.split('&');
      const { body } = await api.ask(`/rates/statistics?${range}`);
      const year = await api.ask(`/rates/history?${range}&interval=year`);
      const { mean } = (body.statistics as Record<string, Json>)[code!] as { mean: number };
      expect([rest, mean]).toEqual([rest, (year.body.rates as { average: number }[])[0]!.average]);
    }
  });

  test('is computed from converted closes', async () => {
    const { body } = await api.ask(path('XAU', '&quote=EUR'));
    expect((body.statistics as Record<string, Json>).XAU).toMatchObject({
      minimum: 80,
      maximum: 108.9,
      last: 108.9,
    });
  });

  test('costs one unit, and an error none', async () => {
    await api.service.setPlan({ name: 'counted', quota: 10 });
    const key = await api.service.key('counted');
    await api.ask(path('XAU'), { key });
    await api.ask('/rates/statistics?symbols=PL,PA,TIN&startDate=2010-01-01&endDate=2024-05-14&format=csv', {
      key,
    });
    const none = await api.ask(path('XAU,PA').replaceAll('2024', '2010'), { key });
    expect(expectRefusal(none, 404, 'no_data')).toMatch(
      /^No data from 2010-\d\d-\d\d to 2010-\d\d-\d\d for XAU /,
    );
    expect((await api.ask('/usage', { key })).body.used).toBe(2);
  });

  test('a delayed plan does not see what it may not see yet, and a short plan has its span', async () => {
    const { service } = api;
    await service.setPlan({ name: 'late', delaySeconds: 3_600, history: false, maxSpanDays: 30 });
    const key = await service.key('late');
    await service.tick('XAU', 9_999, service.clock.time - 60_000);
    const today = '/rates/statistics?symbols=XAU&startDate=2024-05-01&endDate=2024-05-15';
    const maximum = async (asked: string) =>
      ((await api.ask(today, { key: asked })).body.statistics as Record<string, Json>).XAU!.maximum;
    expect([await maximum(api.key), await maximum(key)]).toEqual([9_999, 110]);
    const long = today.replace('2024-05-01', '2024-01-01');
    expectRefusal(await api.ask(long, { key }), 400, 'range_too_long');
  });

  test('at most 20 symbols', async () => {
    const codes = Array.from({ length: 21 }, (_, i) => `S${i}`).join(',');
    expect(expectRefusal(await api.ask(path(codes)), 400, 'too_many_symbols')).toContain(
      '21 symbols and /rates/statistics allows 20',
    );
  });
});
