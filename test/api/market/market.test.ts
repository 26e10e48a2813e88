import { expect, test } from 'bun:test';
import { apiOn, expectRefusal, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { CATALOGUE_SIZE } from '../../support/responses/catalogue.ts';
import { MINUTE } from '../../support/service.ts';

const DAY = 24 * 60 * MINUTE;

onEachEngine('GET /market', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-10': 2330, '2024-05-13': 2336.1, '2024-05-14': 2358.2 });
    await service.publish('CORN', { '2024-05-14': 467.25 });
  });
  const used = async (key: string) => (await api.ask('/usage', { key })).body.used;
  const later = () => {
    api.service.clock.time += 5_000;
  };
  const rowOf = (body: Json, code: string) =>
    (body.symbols as Json[]).find(({ symbol }) => symbol === code) as Json & { quote: Json };

  test('one response has every symbol, its newest price, the close before and the recent closes, for one unit', async () => {
    const key = await api.service.key('free');
    const { status, body } = await api.ask('/market', { key });
    expect(status).toBe(200);
    expect(body.symbols).toHaveLength(CATALOGUE_SIZE);
    expect(rowOf(body, 'XAU')).toMatchObject({
      name: 'Gold',
      category: 'Metals',
      unit: { symbol: 'T.oz' },
      firstDate: '2024-05-10',
      lastDate: '2024-05-14',
      quote: {
        rate: 2358.2,
        date: '2024-05-14',
        at: '2024-05-14',
        source: 'test',
        stale: false,
        open: true,
        before: { date: '2024-05-13', close: 2336.1 },
      },
      closes: [2330, 2336.1],
    });
    expect(rowOf(body, 'CORN')).toMatchObject({ quote: { rate: 467.25, before: null }, closes: [] });
    expect(rowOf(body, 'TIN')).toMatchObject({ quote: null, closes: [], lastDate: null });
    expect(await used(key)).toBe(1);
  });

  test('it names the symbol of every other code and ticker', async () => {
    const { body } = await api.ask('/market?closes=false');
    expect(body.aliases).toMatchObject({ GC: 'XAU', CL: 'WTIOIL-FUT', COPPER: 'HG-SPOT' });
  });

  test('empty symbols count as missing; a list without a code is refused', async () => {
    for (const path of ['/market?symbols=', '/market?symbols=%20&symbols=']) {
      const { status, body, headers } = await api.ask(path);
      expect([path, status]).toEqual([path, 200]);
      expect(body.symbols).toHaveLength(CATALOGUE_SIZE);
      const warning = 'The parameter "symbols" is empty, which counts as missing.';
      expect(headers.get('openpit-warnings')).toContain(warning);
    }
    const visit = (await api.ask('/market')).headers.get('openpit-visit');
    expect((await api.ask(`/market/quotes?visit=${visit}&symbols=`)).status).toBe(200);
    expectRefusal(await api.ask('/market?symbols=,'), 400, 'invalid_symbols');
  });

  test('a visit that does not pay and a switch that is neither true nor false are reported', async () => {
    const warnings = async (query: string) =>
      (await api.ask(`/market?${query}`)).headers.get('openpit-warnings') ?? '';
    expect(await warnings('visit=x')).toContain('The parameter "visit" has no effect');
    expect(await warnings('closes=5')).toContain('The parameter "closes" has no effect');
    expect(await warnings('closes=true')).toBe('');
    const { headers } = await api.ask('/market');
    expect(await warnings(`visit=${headers.get('openpit-visit')}`)).toBe('');
  });

  test('symbols= leaves the other symbols out, of the view and of the quotes', async () => {
    const key = await api.service.key('free');
    const { body, headers } = await api.ask('/market?closes=false&symbols=gc,CORN', { key });
    expect((body.symbols as Json[]).map(({ symbol }) => symbol)).toEqual(['XAU', 'CORN']);
    expect(rowOf(body, 'XAU').quote).toMatchObject({ rate: 2358.2 });
    expect(body.aliases).toMatchObject({ GC: 'XAU', ZC: 'CORN' });
    expect(body.aliases).not.toHaveProperty('CL');
    const visit = headers.get('openpit-visit')!;
    const quotes = await api.ask(`/market/quotes?symbols=XAU&visit=${visit}`, { key });
    expect(Object.keys(quotes.body.quotes as Json)).toEqual(['XAU']);
    expectRefusal(await api.ask('/market?symbols=NOPE', { key }), 404, 'unknown_symbol');
    expect(await used(key)).toBe(1);
  });

  test('symbols= names any number of symbols, like the view without it: the plan limits only requests for rates', async () => {
    const key = await api.service.key('free');
    const six = 'XAU,XAG,PL,PA,CORN,TIN';
    expectRefusal(await api.ask(`/rates/latest?symbols=${six}`, { key }), 400, 'too_many_symbols');
    const { body, headers } = await api.ask(`/market?symbols=${six}`, { key });
    expect((body.symbols as Json[]).map(({ symbol }) => symbol)).toEqual(six.split(','));
    const visit = headers.get('openpit-visit')!;
    const formulas = 'CRACK321,SOYCRUSH';
    const quotes = await api.ask(`/market/quotes?symbols=${formulas}&visit=${visit}`, { key });
    expect(quotes.status).toBe(200);
  });

  test('it lists the named formulas, and symbols= takes one for the symbols in it', async () => {
    const { body } = await api.ask('/market');
    expect((body.formulas as Json[]).map(({ symbol }) => symbol)).toContain('CRACK321');
    await api.service.publish('XAG', { '2024-05-14': 30 });
    later();
    const one = await api.ask('/market?closes=false&symbols=goldsilver');
    expect((one.body.symbols as Json[]).map(({ symbol }) => symbol)).toEqual(['XAU', 'XAG']);
    const dates = { firstDate: '2024-05-14', lastDate: '2024-05-14' };
    const ratio = { category: 'Spreads', currency: { code: 'none' }, unit: { symbol: 'none' } };
    expect(one.body.formulas).toMatchObject([
      { symbol: 'GOLDSILVER', name: 'Gold/Silver Ratio', formula: '{XAU}/{XAG}', ...ratio, ...dates },
    ]);
    const visit = one.headers.get('openpit-visit')!;
    const { quotes } = (await api.ask(`/market/quotes?visit=${visit}&symbols=GOLDSILVER,CORN`)).body;
    expect(Object.keys(quotes as Json)).toEqual(['XAU', 'XAG', 'CORN']);
    expectRefusal(await api.ask('/market?symbols={XAU}/{XAG}'), 400, 'invalid_formula');
  });

  test('an unchanged view is a 304, which is free', async () => {
    const key = await api.service.key('free');
    const { headers } = await api.ask('/market', { key });
    later();
    const again = await api.ask('/market', { key, headers: { 'if-none-match': headers.get('etag')! } });
    expect(again.status).toBe(304);
    expect(again.headers.get('openpit-visit')).toBeNull();
    expect((await api.ask('/market', { key, method: 'HEAD' })).headers.get('openpit-visit')).toBeNull();
    expect(await used(key)).toBe(1);
  });

  test('a visit pays for newer quotes for an hour, of its own account only', async () => {
    const key = await api.service.key('free');
    const visit = (await api.ask('/market', { key })).headers.get('openpit-visit')!;
    const path = `/market/quotes?visit=${visit}`;
    for (let i = 0; i < 20; i++) {
      api.service.clock.time += 2_000;
      expect((await api.ask(path, { key })).status).toBe(200);
    }
    expect(await used(key)).toBe(1);
    expectRefusal(await api.ask(path, { key: await api.service.key('free') }), 400, 'invalid_visit');
    expectRefusal(await api.ask('/market/quotes', { key }), 400, 'missing_parameter');
    expectRefusal(await api.ask('/market/quotes?visit=zzzz.abc', { key }), 400, 'invalid_visit');
    expectRefusal(await api.ask(`${path}x`, { key }), 400, 'invalid_visit');
    api.service.clock.time += 2_000;
    const otherLetters = path.replace(/\.\w|\.-/, '.%C3%A9'); // as many characters, but more bytes
    expectRefusal(await api.ask(otherLetters, { key }), 400, 'invalid_visit');
    api.service.clock.time += 60 * MINUTE;
    expectRefusal(await api.ask(path, { key }), 400, 'invalid_visit');
  });

  test('a visit also pays for the view itself, and closes=false leaves the closes out', async () => {
    const key = await api.service.key('free');
    const brief = await api.ask('/market?closes=false', { key });
    expect(rowOf(brief.body, 'XAU')).toMatchObject({ name: 'Gold', quote: { rate: 2358.2 } });
    expect(brief.text).not.toContain('closes');
    expect((await api.ask('/market?closes=False&dryRun=false')).text).not.toContain('closes');
    const again = await api.ask(`/market?visit=${brief.headers.get('openpit-visit')}`, { key });
    expect(rowOf(again.body, 'XAU').closes).toEqual([2330, 2336.1]);
    expect(again.headers.get('openpit-visit')).toBeNull();
    expect(await used(key)).toBe(1);
    await api.ask('/market?visit=invalid', { key });
    expect(await used(key)).toBe(2);
  });

  test('quotes follow ticks within five seconds, and are the same for everybody until then', async () => {
    const { key } = api;
    later();
    const visit = (await api.ask('/market', { key })).headers.get('openpit-visit')!;
    const gold = async () => {
      const { body } = await api.ask(`/market/quotes?visit=${visit}`, { key });
      return ((body.quotes as Json).XAU as Json).rate;
    };
    await api.service.tick('XAU', 2400);
    expect(await gold()).toBe(2358.2);
    later();
    expect(await gold()).toBe(2400);
    const { body } = await api.ask('/market', { key });
    expect(rowOf(body, 'XAU').quote).toMatchObject({ before: { date: '2024-05-14', close: 2358.2 } });
    expect(rowOf(body, 'XAU').closes).toEqual([2330, 2336.1, 2358.2]);
  });

  test('a correction of a recent close shows', async () => {
    await api.service.publish('XAU', { '2024-05-13': 2340 });
    later();
    const { body } = await api.ask('/market');
    expect(rowOf(body, 'XAU').closes).toEqual([2330, 2340, 2358.2]);
  });

  test('so does one of a symbol whose history is no longer in memory', async () => {
    api.service.core.board.catalog.find('XAU')!.evict();
    await api.service.publish('XAU', { '2024-05-13': 2341 });
    later();
    const { body } = await api.ask('/market');
    expect(rowOf(body, 'XAU').closes).toEqual([2330, 2341, 2358.2]);
  });

  test('a delayed plan sees the market as it was then', async () => {
    const key = await api.service.key('free');
    await api.service.tick('XAU', 9_999);
    later();
    expect(rowOf((await api.ask('/market')).body, 'XAU').quote.rate).toBe(9_999);
    expect((await api.ask('/market', { key })).text).not.toContain('9999');
    api.service.clock.time += 61 * MINUTE;
    expect(rowOf((await api.ask('/market', { key })).body, 'XAU').quote.rate).toBe(9_999);
  });

  test('an exhausted quota refuses the view', async () => {
    await api.service.setPlan({ name: 'tiny', quota: 1 });
    const key = await api.service.key('tiny');
    expect((await api.ask('/market', { key })).status).toBe(200);
    expectRefusal(await api.ask('/market', { key }), 429, 'quota_exhausted');
  });

  test('it is complete after the clock was set back by weeks', async () => {
    const { clock, publish } = api.service;
    const daysAgo = (days: number) => new Date(clock.time - days * DAY).toISOString().slice(0, 10);
    await publish('IORECR', { [daysAgo(420)]: 101, [daysAgo(110)]: 102 });
    const range = `startDate=${daysAgo(120)}&endDate=${daysAgo(100)}`;
    expect((await api.ask(`/rates/time-series?symbols=IORECR&${range}`)).status).toBe(200);
    clock.setBy = -50 * DAY;
    const { body } = await api.ask('/market');
    expect(rowOf(body, 'IORECR').closes).toEqual([101]);
    clock.setBy = 0;
  });

  test('no market is open on a Sunday at noon, also one whose session began on Friday night', async () => {
    const { clock, publish } = api.service;
    await publish('STEEL', { '2024-05-15': 3_600 });
    const { time } = clock;
    clock.time = Date.UTC(2024, 4, 19, 12);
    const { body } = await api.ask('/market');
    clock.time = time;
    expect(rowOf(body, 'STEEL').quote).toMatchObject({ open: false });
    expect(rowOf(body, 'XAU').quote).toMatchObject({ open: false });
  });

  test('a corrected interval of publication shows the closes of the longer time at once', async () => {
    const { ledger, core, publish } = api.service;
    await publish('TEAK', { '2023-08-01': 300, '2024-04-01': 310, '2024-05-01': 320 });
    const teak = (await ledger.symbols.list()).find(({ code }) => code === 'TEAK')!;
    const closesAs = async (updateInterval: 'day' | 'month') => {
      await ledger.symbols.upsert([{ ...teak, updateInterval }], []);
      await core.follow();
      return rowOf((await api.ask('/market')).body, 'TEAK').closes;
    };
    expect(await closesAs('day')).toEqual([310]);
    expect(await closesAs('month')).toEqual([300, 310]);
    await ledger.symbols.upsert([teak], []);
    await core.follow();
  });

  test('it is served below every mount, compressed for those who accept it', async () => {
    const { headers } = await api.ask('/v1/market', { headers: { 'accept-encoding': 'gzip' } });
    expect(headers.get('etag')).not.toBeNull();
    expect(Number(headers.get('content-length') ?? 0)).toBeLessThan(20_000);
  });

  test('each encoding has a tag of its own, and both are a 304 in either', async () => {
    const encodings = ['identity', 'gzip'];
    const get = (encoding: string, ifNoneMatch?: string) => {
      const headers = { 'accept-encoding': encoding, ...(ifNoneMatch && { 'if-none-match': ifNoneMatch }) };
      return api.ask('/market', { headers });
    };
    const tags = await Promise.all(encodings.map(async (one) => (await get(one)).headers.get('etag')!));
    expect(tags[1]).toBe(tags[0]!.replace(/"$/, '-gzip"'));
    for (const encoding of encodings) {
      for (const tag of tags) {
        const { status, headers } = await get(encoding, tag);
        expect([status, headers.get('etag')]).toEqual([304, tag]);
      }
    }
  });
});
