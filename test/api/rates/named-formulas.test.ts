import { expect, test } from 'bun:test';
import { evaluate } from '../../../src/market/formula/evaluate.ts';
import { readFormula } from '../../../src/market/formula/read.ts';
import { apiOn, expectRefusal, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { OPERATOR_HEADERS, OPERATOR_SETTINGS } from '../../support/operator.ts';
import { openTestService } from '../../support/service.ts';

onEachEngine('named formulas', (engine) => {
  const api = apiOn(engine, { settings: OPERATOR_SETTINGS }, async ({ service }) => {
    const closes = {
      'RB-FUT': 2.5,
      'HO-FUT': 2.4,
      'WTIOIL-FUT': 78,
      'BRENTOIL-FUT': 82.5,
      XAU: 2_400,
      XAG: 30,
      'PJM-POWER': 45.5, // dollars per megawatt hour
      'NG-FUT': 2.345, // dollars per million British thermal units
    };
    for (const [code, close] of Object.entries(closes)) await service.publish(code, { '2024-05-14': close });
    await service.publish('ZM', { '2024-05-14': 400 }); // dollars per short ton
    await service.publish('ZL', { '2024-05-14': 45 }); // cents per pound
    await service.publish('SOYBEAN-FUT', { '2024-05-14': 1_200 }); // cents per bushel
    await service.publish('EUR/USD', { '2024-05-14': 1.25 });
  });
  const operator = { key: '', headers: OPERATOR_HEADERS };
  const define = (code: string, body: Json) =>
    api.ask(`/admin/formulas/${code}`, { ...operator, method: 'PUT', body: JSON.stringify(body) });

  test('those that are built in have the values that the market uses', async () => {
    const codes = ['CRACK321', 'SOYCRUSH', 'GOLDSILVER', 'BRENTWTI', 'SPARK'];
    const { body } = await api.ask(`/rates/latest?symbols=${codes}`);
    // (2 × 2.5 × 42 + 2.4 × 42 − 3 × 78) / 3; 400 × 44 / 2000 + 0.45 × 11 − 12; 45.5 − 7 × 2.345
    expect(body.rates).toEqual({
      CRACK321: 25.6,
      SOYCRUSH: 1.75,
      GOLDSILVER: 80,
      BRENTWTI: 4.5,
      SPARK: 29.085,
    });
    expect(body.metadata).toMatchObject({
      CRACK321: { unit: 'Bbl', quote: 'USD' },
      SOYCRUSH: { unit: 'Bu', quote: 'USD' },
      GOLDSILVER: { unit: 'none', quote: 'none' },
      SPARK: { unit: 'MWh', quote: 'USD' },
    });
  });

  test('they are used by their code wherever symbols are, and converted like a symbol', async () => {
    const day = 'date=2024-05-14';
    const range = 'startDate=2024-05-14&endDate=2024-05-14';
    const rateOf = async (path: string) => JSON.stringify((await api.ask(path)).body.rates);
    for (const path of [
      `/rates/historical?symbols=crack321&${day}`,
      `/rates/time-series?symbols=CRACK321&${range}`,
      `/rates/fluctuation?symbols=CRACK321&${range}`,
      `/rates/history?symbols=CRACK321&${range}`,
      `/rates/historical?symbols=CRACK321&${day}&asOf=2024-05-15`,
    ]) {
      expect(await rateOf(path)).toContain('25.6');
    }
    const { statistics } = (await api.ask(`/rates/statistics?symbols=CRACK321&${range}`)).body;
    expect(statistics).toMatchObject({ CRACK321: { mean: 25.6 } });
    expect((await api.ask('/rates/latest?symbols=SOYCRUSH&quote=EUR&metadata=false')).body.rates).toEqual({
      SOYCRUSH: 1.4,
    });
    expect((await api.ask('/rates/latest?symbols=CRACK321&unit=gal&metadata=false')).body.rates).toEqual({
      CRACK321: 0.60952381,
    });
    const ratio = (conversion: string) => api.ask(`/rates/latest?symbols=GOLDSILVER&${conversion}`);
    expect(expectRefusal(await ratio('quote=EUR'), 404, 'unknown_currency')).toBe(
      'GOLDSILVER has no currency, so it cannot be converted to "EUR". Request it without quote.',
    );
    expect(expectRefusal(await ratio('unit=kg'), 400, 'invalid_unit')).toBe(
      'The unit "kg" does not fit GOLDSILVER (which has no unit).',
    );
    expectRefusal(await api.ask(`/rates/revisions?symbols=CRACK321&${day}`), 400, 'invalid_formula');
  });

  test('each symbol in them counts towards the limit of the plan', async () => {
    await api.service.setPlan({ name: 'two', maxSymbols: 2 });
    const key = await api.service.key('two');
    const refused = await api.ask('/rates/latest?symbols=CRACK321', { key });
    expect(expectRefusal(refused, 400, 'too_many_symbols')).toContain('3 symbols');
    expect((await api.ask('/rates/latest?symbols=BRENTWTI', { key })).status).toBe(200);
    expectRefusal(await api.ask('/rates/stream?symbols=CRACK321', { key }), 400, 'too_many_symbols');
  });

  test('an operator defines, replaces and deletes them, and every replica knows it at its next poll', async () => {
    const replica = await openTestService(engine, { ledgerUrl: api.service.ledgerUrl });
    try {
      const definition = {
        expression: '{xau} - 2 * {XAG}',
        name: 'Gold less silver',
        unit: 'T.oz',
        currency: 'USD',
      };
      const { body } = await define('own', definition);
      expect(body).toEqual({
        success: true,
        formula: { ...definition, code: 'OWN', expression: '{XAU}-2*{XAG}' },
      });
      await replica.core.follow();
      const rates = async () => {
        const response = await replica.get('/rates/latest?symbols=OWN&metadata=false', api.key);
        return ((await response.json()) as Json).rates;
      };
      expect(await rates()).toEqual({ OWN: 2_340 });
      await define('OWN', { ...definition, expression: '{XAU}-{XAG}' });
      await replica.core.follow();
      expect(await rates()).toEqual({ OWN: 2_370 });
      const listed = (await api.ask('/admin/formulas', operator)).body.formulas as Json[];
      expect(listed.map(({ code }) => code)).toContain('OWN');
      await api.service.core.follow();
      const symbols = (await api.ask('/symbols')).body.symbols as Json[];
      expect(symbols.find(({ symbol }) => symbol === 'OWN')).toMatchObject({
        name: 'Gold less silver',
        formula: '{XAU}-{XAG}',
        unit: { symbol: 'T.oz', name: 'Troy Ounce' },
        firstDate: '2024-05-14',
        lastDate: '2024-05-14',
      });
      expect((await api.ask('/admin/formulas/own', { ...operator, method: 'DELETE' })).status).toBe(200);
      await replica.core.follow();
      expect(await rates()).toBeUndefined();
      const again = await api.ask('/admin/formulas/own', { ...operator, method: 'DELETE' });
      expectRefusal(again, 404, 'not_there');
    } finally {
      await replica.close();
    }
  });

  test('the unit is one that prices can be converted to, one of a symbol, or none', async () => {
    const withUnit = (unit: string) => define('MEASURED', { expression: '{XAU}*2', name: 'Test', unit });
    const unitOf = async (unit: string) => ((await withUnit(unit)).body.formula as Json | undefined)?.unit;
    expect(await Promise.all(['T.oz', 'troy ounce', 'barrels', 'bushel', 'None'].map(unitOf))).toEqual([
      'T.oz',
      'T.oz',
      'Bbl',
      'Bu',
      'none',
    ]);
    const message = expectRefusal(await withUnit('barell'), 400, 'invalid_body');
    expect(message).toContain(
      '"barell" is not a unit: send none, the unit of a symbol, or one of Kg, g, MT,',
    );
    expect(message).toContain('Bbl');
    const crate = { category: 'Test', market: 'SPOT', decimals: 2, updateInterval: 'day' };
    await api.ask('/admin/symbols/ORANGES', {
      ...operator,
      method: 'PUT',
      body: JSON.stringify({
        ...crate,
        name: 'Oranges',
        currency: { code: 'USD', name: 'US Dollar', symbol: '$' },
        unit: { symbol: 'Crate', name: 'Crate' },
      }),
    });
    expect(await unitOf('crate')).toBe('Crate');
  });

  test('the currency is an ISO code, one of a symbol, or none', async () => {
    const withCurrency = (currency: string) =>
      define('PRICED', { expression: '{XAU}*2', name: 'Test', currency });
    const currencyOf = async (currency: string) =>
      ((await withCurrency(currency)).body.formula as Json | undefined)?.currency;
    expect(await Promise.all(['usd', 'USX', 'CHF', 'None'].map(currencyOf))).toEqual([
      'USD',
      'USX',
      'CHF',
      'none',
    ]);
    expect(expectRefusal(await withCurrency('dollars'), 400, 'invalid_body')).toContain(
      '"dollars" is not a currency: send none, the currency of a symbol, or an ISO 4217 code such as USD',
    );
  });

  test('a value that is too large is refused or absent, converted or not, with a name or without', async () => {
    // To the power of 20, that is 10^60, and almost the largest number there is: more of it in another unit or in cents.
    await api.service.publish('PL', { '2024-05-13': 1_000, '2024-05-14': 2.4e15 });
    const expression = Array.from({ length: 20 }, () => '{PL}').join('*');
    await define('HUGE', { expression, name: 'Huge', unit: 'g', currency: 'USD' });
    await api.service.core.follow();
    const range = 'startDate=2024-05-13&endDate=2024-05-14';
    for (const symbol of ['HUGE', expression]) {
      for (const rest of [
        '',
        '&quote=USX',
        ...(symbol === 'HUGE' ? ['&unit=MT', '&unit=MT&quote=USX'] : []),
      ]) {
        const ask = (path: string) => api.ask(`/rates/${path}&symbols=${symbol}${rest}`);
        expect(expectRefusal(await ask('latest?'), 400, 'invalid_formula')).toContain(
          'its value is too large',
        );
        const history = (await ask(`history?${range}`)).body.rates as Json[];
        expect(history.map(({ date }) => date)).toEqual(['2024-05-13']);
        const days = (await ask(`time-series?${range}`)).body.rates as Json;
        expect(Object.keys(days)).toEqual(['2024-05-13']);
        const past = (await ask('historical?date=2024-05-14')).body.metadata as Record<string, Json>;
        expect(past[symbol]!.date).toBe('2024-05-13');
      }
    }
  });

  test('a definition that cannot be computed is refused with the reason', async () => {
    const why = async (code: string, expression: string) =>
      expectRefusal(await define(code, { expression, name: 'Test' }), 400, 'invalid_body');
    expect(await why('LOOP', '{LOOP}+{XAU}')).toContain('LOOP is a formula');
    expect(await why('NESTED', '{CRACK321}*2')).toContain('CRACK321 is a formula');
    expect(await why('XAU', '{XAG}*80')).toContain('XAU is the code of a symbol');
    expect(await why('GOLD', '{XAG}*80')).toContain('GOLD is an alias of XAU');
    expect(await why('MISSING', '{NOPE}*2')).toContain('there is no symbol NOPE');
    expect(await why('BROKEN', '{XAU}*')).toContain('is expected');
    expect(await why('ZERO', '{XAU}/(2-2)')).toContain('divides by zero');
    expect(await why('A%20B', '{XAU}*2')).toContain('is not a code');
    const nested = await api.ask('/rates/latest?symbols={CRACK321}*2');
    expect(expectRefusal(nested, 400, 'invalid_formula')).toContain('CRACK321 is a formula');
  });

  test('a formula whose symbols have no history in common has no dates', async () => {
    await api.service.publish('TIN', { '2020-05-14': 680 });
    await define('APART', { expression: '{XAU}-{TIN}', name: 'Test', unit: 'T.oz', currency: 'USD' });
    await api.service.core.follow();
    const symbols = (await api.ask('/symbols')).body.symbols as Json[];
    const found = symbols.find(({ symbol }) => symbol === 'APART');
    expect(found).toMatchObject({ firstDate: null, lastDate: null });
  });

  test('the list of symbols shows what each of them computes', async () => {
    const symbols = (await api.ask('/symbols')).body.symbols as Json[];
    const codes = symbols.map(({ symbol }) => String(symbol));
    expect(codes).toEqual([...codes].sort());
    for (const { symbol, formula } of symbols.filter((one) => one.formula !== undefined)) {
      const parsed = readFormula(String(formula));
      if ('problem' in parsed) throw new Error(`${symbol}: ${parsed.problem}`);
      expect(evaluate(parsed.expression, () => 1.5)).toBeNumber();
    }
  });
});
