import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { difference } from '../../../src/market/decimal.ts';
import { converted, over, ratioOf } from '../../../src/market/ratio.ts';
import { apiOn, expectRefusal, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE, NOON } from '../../support/service.ts';

type Ohlc = Record<'open' | 'high' | 'low' | 'close', number>;

onEachEngine('quote=', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', {
      '2024-05-10': [2350, 2375.5, 2340.25, 2360.1],
      '2024-05-13': [2360.1, 2361, 2332.2, 2336.1],
      '2024-05-14': [2336.1, 2359.9, 2335, 2358.2],
    });
    await service.publish('CORN', { '2024-05-14': 467.25 });
    await service.publish('TTF-GAS', { '2024-05-14': 30.5 });
    await service.publish('STEEL', { '2024-05-14': 3600 });
    await service.publish('XAG', { '2024-01-02': 23.5 });
    await service.publish('EUR/USD', { '2024-05-10': 1.078, '2024-05-14': 1.0799 }, 'ecb');
    await service.publish('EUR/CNY', { '2024-05-14': 7.8152 }, 'ecb');
    await service.publish('EUR/SEK', { '2024-04-01': 11.5 }, 'ecb');
  });
  const day = (symbols: string, quote: string, date = '2024-05-14') =>
    `/rates/historical?symbols=${symbols}&date=${date}&quote=${quote}`;
  const closeOf = async (path: string) => {
    const { body } = await api.ask(path);
    return Object.values((body.rates ?? {}) as Record<string, Ohlc>)[0]?.close;
  };
  const metadataOf = async (path: string) => (await api.ask(path)).body.metadata as Record<string, Json>;

  test('historical is converted at the rate of the day, and metadata says so', async () => {
    const { text } = await api.ask(day('XAU', 'EUR'));
    expect(text).toBe(
      '{"success":true,"date":"2024-05-14","rates":{"XAU":{"open":2163.2559,"high":2185.2949,"low":2162.2372,"close":2183.7207}},' +
        '"metadata":{"XAU":{"unit":"T.oz","quote":"EUR","factor":0.926011667747,"date":"2024-05-14","source":"test, ecb"}}}',
    );
  });

  test('a day without a rate uses the last one before it', async () => {
    expect(await closeOf(day('XAU', 'EUR', '2024-05-13'))).toBe(2167.0686); // 2336.1 / 1.078
    expect(await closeOf(day('XAU', 'EUR', '2024-05-11'))).toBe(2189.3321); // Friday's close at Friday's rate
  });

  test('converts between any two known currencies, cents included', async () => {
    expect(await closeOf(day('TTF-GAS', 'USD'))).toBe(32.93695); // 30.5 × 1.0799
    expect(await closeOf(day('TTF-GAS', 'USX'))).toBe(3293.695);
    expect(await closeOf(day('CORN', 'EUR'))).toBe(4.3267895); // cents
    expect(await closeOf(day('STEEL', 'USD'))).toBe(497.446); // 3600 / 7.8152 × 1.0799
    expect(await closeOf(day('XAU', 'cny'))).toBe(17066.214);
    expect(await metadataOf(day('XAU', 'cny'))).toMatchObject({ XAU: { quote: 'CNY', source: 'test, ecb' } });
  });

  test('cents and dollars need no rate', async () => {
    expect(await closeOf(day('CORN', 'USD'))).toBe(4.6725);
    expect(await closeOf(day('XAU', 'USX'))).toBe(235820);
    expect(await metadataOf(day('CORN', 'USD'))).toEqual({
      CORN: { unit: 'Bu', quote: 'USD', factor: 0.01, date: '2024-05-14', source: 'test' },
    });
  });

  test('the symbol’s own currency changes nothing and needs no rate', async () => {
    const old = '&date=2024-01-02';
    const plain = await api.ask(`/rates/historical?symbols=XAG${old}&metadata=false`);
    const same = await api.ask(`/rates/historical?symbols=XAG${old}&metadata=false&quote=USD`);
    expect(same.text).toBe(plain.text);
    expect(await closeOf(day('TTF-GAS', 'eur'))).toBe(30.5);
    expect(await metadataOf(day('STEEL', 'CNY'))).toMatchObject({ STEEL: { quote: 'CNY', factor: 1 } });
  });

  test('latest is converted at the latest known rate', async () => {
    const { body } = await api.ask('/rates/latest?symbols=XAU,XAG&quote=EUR');
    expect(body.rates).toEqual({ XAU: 2183.7207, XAG: 21.761274 });
    expect(body.metadata).toMatchObject({
      XAU: { unit: 'T.oz', quote: 'EUR', factor: 0.926011667747, at: '2024-05-14', source: 'test, ecb' },
    });
  });

  test('a time series has a factor for each day', async () => {
    const path = '/rates/time-series?symbols=XAU&startDate=2024-05-10&endDate=2024-05-14&quote=EUR';
    const { body } = await api.ask(path);
    const rates = body.rates as Record<string, { XAU: Ohlc }>;
    expect(Object.values(rates).map(({ XAU }) => XAU.close)).toEqual([2189.3321, 2167.0686, 2183.7207]);
    expect(body.metadata).toEqual({
      XAU: {
        unit: 'T.oz',
        quote: 'EUR',
        factors: {
          '2024-05-10': 0.927643784787,
          '2024-05-13': 0.927643784787,
          '2024-05-14': 0.926011667747,
        },
        source: 'test, ecb',
      },
    });
  });

  test('fluctuation converts each close at the rate of its own day, and the change is their exact difference', async () => {
    const path = '/rates/fluctuation?symbols=XAU&startDate=2024-05-10&endDate=2024-05-14&quote=EUR';
    const { body } = await api.ask(path);
    expect(body.rates).toEqual({
      XAU: { startRate: 2189.3321, endRate: 2183.7207, change: -5.6114, changePercent: -0.2563 },
    });
    expect(body.metadata).toMatchObject({
      XAU: { quote: 'EUR', startFactor: 0.927643784787, endFactor: 0.926011667747 },
    });
  });

  test('an unknown currency is refused with the known ones', async () => {
    for (const quote of ['XYZ', 'GBP', 'EURO', '__proto__']) {
      const message = expectRefusal(await api.ask(day('XAU', quote)), 404, 'unknown_currency');
      expect(message).toContain('CNY, EUR, SEK, USD, USX');
    }
    const path = '/rates/latest?symbols=PO&quote=USD';
    await api.service.publish('PO', { '2024-05-14': 3900 }); // ringgit, which has no rate
    expect(expectRefusal(await api.ask(path), 404, 'unknown_currency')).toContain('known for it are MYR.');
  });

  test('a rate of the euro to itself in an older ledger changes nothing', async () => {
    const before = await api.ask(day('XAU', 'EUR'));
    await api.service.publish('EUR/EUR', { '2020-01-02': 1 });
    expect((await api.ask(day('XAU', 'EUR'))).text).toBe(before.text);
    expect(await closeOf(day('TTF-GAS', 'USD'))).toBe(32.93695);
  });

  test('without a rate in the 14 days before, the response is no_data and names the rate', async () => {
    expect(await closeOf(day('XAU', 'EUR', '2024-05-10'))).toBe(2189.3321);
    const message = expectRefusal(await api.ask(day('XAU', 'SEK')), 404, 'no_data');
    expect(message).toContain('EUR/SEK is known on 2024-05-14 or in the 14 days before it');
    expectRefusal(await api.ask('/rates/latest?symbols=XAU&quote=SEK'), 404, 'no_data');
    expect(message).toContain('Ask for another day, or for them without quote.');
    const tooEarly = expectRefusal(await api.ask(day('XAG', 'EUR', '2024-01-02')), 404, 'no_data');
    expect(tooEarly).toContain(
      'EUR/USD is known on 2024-01-02 or in the 14 days before it (the first is from 2024-05-10)',
    );
  });

  test('a missing rate is named with its last day, and with the symbols that need it', async () => {
    const message = expectRefusal(
      await api.ask('/rates/latest?symbols=XAU,STEEL,TTF-GAS&quote=SEK'),
      404,
      'no_data',
    );
    expect(message).toStartWith(
      'No exchange rate EUR/SEK is known on 2024-05-15 or in the 14 days before it (the last is from 2024-04-01), so prices of XAU, STEEL, TTF-GAS on that day cannot be converted. Ask for another day, or for them without quote.',
    );
  });

  test('an exchange rate is not a symbol: it is not listed, found or suggested', async () => {
    const { text } = await api.ask('/symbols');
    expect(text).not.toContain('EUR/');
    for (const code of ['EUR/USD', 'EUR%2FUSD', 'EURUSD']) {
      const reply = await api.ask(`/rates/latest?symbols=${code}`);
      expect(expectRefusal(reply, 404, 'unknown_symbol')).not.toContain('did you mean EUR/');
    }
    expect((await api.service.ledger.symbols.list()).some((one) => one.code.includes('/'))).toBe(false);
  });

  test('a new rate and a corrected one change the response and its tag, even if it is cached', async () => {
    const { service } = api;
    await service.publish('ZINC', { '2024-05-08': 2900 });
    await service.publish('EUR/GBP', { '2024-05-08': 0.86 }, 'ecb');
    const path = day('ZINC', 'GBP', '2024-05-08').concat('&metadata=false');
    await service.publish('EUR/USD', { '2024-05-08': 1.075 }, 'ecb');
    const before = await api.ask(path);
    expect((await api.ask(path)).text).toBe(before.text);
    await service.publish('EUR/GBP', { '2024-05-08': 0.87 }, 'ecb');
    const after = await api.ask(path);
    expect(after.text).not.toBe(before.text);
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
  });

  test('a delayed plan converts at the rate visible to it', async () => {
    const { service } = api;
    await service.setPlan({ name: 'hour', delaySeconds: 3600 });
    const hour = await service.key('hour');
    service.clock.time = NOON + 5 * MINUTE;
    const path = '/rates/latest?symbols=XAU&quote=EUR&metadata=false';
    const rateOf = async (key: string) => ((await api.ask(path, { key })).body.rates as Json).XAU;
    const before = await rateOf(hour);
    await service.publish('EUR/USD', { '2024-05-15': 1.2 }, 'ecb');
    expect(await rateOf(api.key)).toBe(1965.1667);
    expect(await rateOf(hour)).toBe(before);
    service.clock.time += 60 * MINUTE;
    expect(await rateOf(hour)).toBe(1965.1667);
    service.clock.time = NOON;
  });

  test('any price and any rate: rounded once to 8 digits, and the change is exact', async () => {
    const { service } = api;
    const property = fc.asyncProperty(
      fc.integer({ min: -(10 ** 9), max: 10 ** 9 }).map((cents) => cents / 100),
      fc.integer({ min: 1, max: 10 ** 9 }).map((cents) => cents / 100),
      fc.integer({ min: 1, max: 10 ** 7 }).map((points) => points / 10_000),
      async (start, end, rate) => {
        await service.publish('PA', { '2023-03-06': start, '2023-03-07': end });
        await service.publish('EUR/USD', { '2023-03-06': rate }, 'ecb');
        const range = 'startDate=2023-03-06&endDate=2023-03-07';
        const { body } = await api.ask(`/rates/fluctuation?symbols=PA&${range}&quote=EUR`);
        const [first, last] = [start, end].map((one) => converted(one, over(ratioOf(1), ratioOf(rate))));
        const { PA } = body.rates as { PA: Json };
        expect([PA.startRate, PA.endRate]).toEqual([first! + 0, last! + 0]);
        expect(PA.change).toBe(Number(difference(last!, first!)));
      },
    );
    await fc.assert(property, { numRuns: 25 });
  });
});

onEachEngine('quote= without any exchange rate', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 2358.2 });
    await service.publish('CORN', { '2024-05-14': 467.25 });
  });

  test('quote=USD on a dollar symbol never fails', async () => {
    for (const path of [
      '/rates/latest?symbols=XAU,CORN',
      '/rates/historical?symbols=XAU,CORN&date=2024-05-14',
      '/rates/time-series?symbols=XAU,CORN&startDate=2024-05-14&endDate=2024-05-14',
      '/rates/fluctuation?symbols=XAU,CORN&startDate=2024-05-14&endDate=2024-05-14',
    ]) {
      expect((await api.ask(`${path}&quote=USD`)).status, path).toBe(200);
      const plain = await api.ask(`${path.replace(',CORN', '')}&metadata=false`);
      const same = await api.ask(`${path.replace(',CORN', '')}&metadata=false&quote=usd`);
      expect(same.text).toBe(plain.text);
    }
  });

  test('the euro is unknown', async () => {
    const reply = await api.ask('/rates/latest?symbols=XAU&quote=EUR');
    expect(expectRefusal(reply, 404, 'unknown_currency')).toContain('known for XAU are USD, USX.');
  });
});
