import { expect, test } from 'bun:test';
import { apiOn, expectRefusal, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

onEachEngine('codes and aliases', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 1 });
    await service.publish('XAG', { '2024-05-14': 2 });
    await service.publish('WTIOIL-FUT', { '2024-05-14': 3 });
    await service.publish('CORN', { '2024-05-14': 4 });
  });
  const ratesText = async (query: string) =>
    /"rates":(\{[^}]*\})/.exec((await api.ask(`/rates/latest?metadata=false&${query}`)).text)?.[1];

  const SAME: [query: string, what: string][] = [
    ['symbols=CORN,XAU,XAG', 'plain'],
    ['symbols=CORN%2CXAU%2CXAG', 'escaped commas'],
    ['symbols=corn,Xau,xAg', 'any case'],
    ['symbols=CORN,%20XAU%20,+XAG', 'blanks'],
    ['symbols=,CORN,,XAU,XAG,', 'empties'],
    ['symbols=CORN,XAU,corn,XAG,XAU', 'doubles'],
    ['symbols=CORN&symbols=XAU,XAG', 'a repeated parameter'],
    ['symbols=CORN,XAU&symbols=xau,XAG&symbols=', 'repeated with doubles and an empty one'],
    ['symbols=CORN%0A,XAU%09,%C2%A0XAG', 'other white space'],
    ['&&symbols=CORN,XAU,XAG&&=&a=b=c', 'odd separators'],
    ['%73ymbols=CORN,XAU,XAG', 'an escaped name'],
  ];
  for (const [query, what] of SAME) {
    test(`symbols are read alike and kept in order: ${what}`, async () => {
      expect(await ratesText(query)).toBe('{"CORN":4,"XAU":1,"XAG":2}');
    });
  }

  test('rates and metadata keep the requested order', async () => {
    expect(await ratesText('symbols=XAG,CORN,XAU')).toBe('{"XAG":2,"CORN":4,"XAU":1}');
    const { body } = await api.ask('/rates/latest?symbols=XAG,CORN,XAU');
    expect(Object.keys(body.metadata as Json)).toEqual(['XAG', 'CORN', 'XAU']);
  });

  test('an alias has the data of its symbol, under the requested code', async () => {
    expect(await ratesText('symbols=gold,WTI,WTIOIL')).toBe('{"GOLD":1,"WTI":3,"WTIOIL":3}');
    const range = 'startDate=2024-05-14&endDate=2024-05-14';
    for (const path of [
      '/rates/historical?symbols=gold&date=2024-05-14',
      `/rates/fluctuation?symbols=gold&${range}`,
    ]) {
      const { body } = await api.ask(path);
      expect(Object.keys(body.rates as Json)).toEqual(['GOLD']);
      expect(body.metadata).toMatchObject({ GOLD: { unit: 'T.oz', quote: 'USD' } });
    }
    const series = (await api.ask(`/rates/time-series?symbols=gold,XAU&${range}`)).body.rates;
    expect(Object.keys((series as Record<string, Json>)['2024-05-14']!)).toEqual(['GOLD', 'XAU']);
  });

  test('names that people use and exchange roots are aliases, and those of one commodity agree', async () => {
    const codes = 'PLATINUM,LITHIUM,NATURAL_GAS,GC,SI,HG,CL,NG,ZC,ZS,ZW,KC,SB,CT,CC,LE,HE';
    const range = 'startDate=2024-05-14&endDate=2024-05-14';
    expect((await api.ask(`/rates/time-series?symbols=${codes}&${range}`)).status).toBe(200);
    const { catalog } = api.service.core.board;
    for (const [one, other] of [
      ['BRENT', 'BRENTOIL'],
      ['SOYBEAN', 'SOYBEANS'],
      ['CL', 'WTI'],
    ]) {
      expect(catalog.find(one!), one).toBe(catalog.find(other!)!);
    }
  });

  test('every alias of the catalogue works', async () => {
    const aliases = await api.service.ledger.symbols.aliases();
    expect(aliases.length).toBeGreaterThan(30);
    const asked = aliases.map(({ alias }) => alias).join(',');
    const path = `/rates/time-series?symbols=${asked}&startDate=2024-05-14&endDate=2024-05-14`;
    const { status, body } = await api.ask(path);
    expect(status).toBe(200);
    expect(Object.keys(body.metadata as Json)).toEqual(aliases.map(({ alias }) => alias));
  });

  test('an alias and its symbol in one request are two entries of the response', async () => {
    expect(await ratesText('symbols=XAU,GOLD')).toBe('{"XAU":1,"GOLD":1}');
  });

  test('codes are matched only exactly', async () => {
    for (const code of ['__proto__', 'constructor', 'toString', '*', 'XAU%', 'XAU;XAG', 'XAU|XAG', 'ΧAU']) {
      const reply = await api.ask(`/rates/latest?symbols=${encodeURIComponent(code)}`);
      expectRefusal(reply, 404, 'unknown_symbol');
    }
  });

  test('a symbol and an alias added at runtime are served', async () => {
    const { service } = api;
    const record = {
      code: 'UNOBTAINIUM',
      name: 'Unobtainium',
      category: 'Metals',
      currency: { code: 'USD', name: 'US Dollar', symbol: '$' },
      unit: { symbol: 'Kg', name: 'Kilogram' },
      market: 'SPOT',
      decimals: 2,
      status: 'deprecated' as const,
      updateInterval: 'day' as const,
    };
    await service.ledger.symbols.upsert([record], [{ alias: 'UNO', code: 'UNOBTAINIUM', kind: 'guess' }]);
    await service.publish('UNOBTAINIUM', { '2024-05-14': 7 });
    expect(await ratesText('symbols=uno,unobtainium')).toBe('{"UNO":7,"UNOBTAINIUM":7}');
    const list = (await api.ask('/symbols')).body.symbols as Json[];
    expect(list.find((one) => one.symbol === 'UNOBTAINIUM')).toMatchObject({ status: 'deprecated' });
  });
});
