import { afterAll, beforeAll, expect, test } from 'bun:test';
import { LocalRates } from '../../../src/api/local/local-rates.ts';
import { callTool, connectAgent } from '../../support/agents.ts';
import { type Api, apiOn, expectRefusal } from '../../support/api.ts';
import { EventReader } from '../../support/http/events.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE, NOON, openTestService, type TestService } from '../../support/service.ts';

const LATEST = '/rates/latest?symbols=XAU';
const SERIES = '/rates/time-series?symbols=XAU&startDate=2024-05-10&endDate=2024-05-15&metadata=false';

/** A simulated history and a simulated tick. */
async function simulate({ service }: Api, code = 'XAU'): Promise<void> {
  await service.publish(code, { '2024-05-10': 1, '2024-05-13': 2, '2024-05-14': 3 }, 'simulated');
  await service.tick(code, 4, NOON - MINUTE, NOON - MINUTE, 'simulated');
}

onEachEngine('simulated prices with OPENPIT_DEMO=true', (engine) => {
  const api = apiOn(engine, { settings: { OPENPIT_DEMO: 'true' } }, async (own) => {
    await simulate(own);
    await simulate(own, 'XAG');
    await simulate(own, 'PL');
  });
  const sourceOf = async (path: string) =>
    (await api.ask(path)).body.metadata as Record<string, { source: string }>;

  test('are served and marked as simulated by every endpoint and by health', async () => {
    expect((await api.ask('/rates/latest?symbols=XAG')).body.rates).toEqual({ XAG: 4 });
    const range = 'startDate=2024-05-13&endDate=2024-05-15';
    for (const rest of [
      'latest?symbols=XAG',
      'historical?symbols=XAG&date=2024-05-14',
      `time-series?symbols=XAG&${range}`,
      `fluctuation?symbols=XAG&${range}`,
    ]) {
      expect((await sourceOf(`/rates/${rest}`)).XAG!.source, rest).toBe('simulated');
    }
    expect((await api.ask('/health')).body.simulated).toBe(true);
  });

  test('are hidden permanently, with their history, by the first real bar of their symbol', async () => {
    await api.service.publish('XAU', { '2024-05-13': 2336 }, 'exchange');
    expect((await api.ask(SERIES)).body.rates).toEqual({
      '2024-05-13': { XAU: { open: 2336, high: 2336, low: 2336, close: 2336 } },
    });
    expect((await api.ask(LATEST)).body.rates).toEqual({ XAU: 2336 });
    expect((await sourceOf(LATEST)).XAU!.source).toBe('exchange');
    await simulate(api); // the simulator keeps running
    await api.service.tick('XAU', 5, NOON, NOON, 'simulated');
    expect((await api.ask(LATEST)).body.rates).toEqual({ XAU: 2336 });
  });

  test('are hidden by a real tick too, and for a delayed plan once it sees that tick', async () => {
    const { service } = api;
    const free = await service.key('free');
    const path = '/rates/latest?symbols=PL';
    service.clock.time += 60 * MINUTE; // the simulated tick is visible to all
    await service.tick('PL', 1065, service.clock.time, service.clock.time, 'exchange');
    expect((await api.ask(path)).body.rates).toEqual({ PL: 1065 });
    expect((await api.ask(path, { key: free })).body.rates).toEqual({ PL: 4 });
    service.clock.time += 60 * MINUTE;
    expect((await api.ask(path, { key: free })).body.rates).toEqual({ PL: 1065 });
  });

  test('of other symbols remain visible', async () => {
    expect((await api.ask('/rates/latest?symbols=XAG')).body.rates).toEqual({ XAG: 4 });
  });
});

onEachEngine('simulated prices with OPENPIT_DEMO=false', (engine) => {
  const api = apiOn(engine, { settings: { OPENPIT_DEMO: 'false' } }, simulate);

  test('are said to be hidden where the ledger was that of a demo', async () => {
    const { ledger, clock } = api.service;
    await ledger.setMeta('demo', 'on');
    const options = { clock, historyBytesMax: 1e6 };
    const ask = async (simulated: boolean, code: string) => {
      const rates = await LocalRates.open(ledger, { ...options, simulated });
      return rates.ask('/rates/latest', { symbols: code }).then(
        () => 'served',
        ({ message }: Error) => message,
      );
    };
    expect(await ask(false, 'XAU')).toContain('its simulated prices are hidden by OPENPIT_DEMO=false');
    expect(await ask(false, '{XAU}*2')).toContain('its simulated prices are hidden by OPENPIT_DEMO=false');
    expect(await ask(true, 'XAU')).toBe('served');
    expect(await ask(true, 'CORN')).toBe('No data for CORN (it has no data yet).');
  });

  test('are hidden from every endpoint', async () => {
    expectRefusal(await api.ask(LATEST), 404, 'no_data');
    expectRefusal(await api.ask('/rates/historical?symbols=XAU&date=2024-05-14'), 404, 'no_data');
    expect((await api.ask(SERIES)).body.rates).toEqual({});
    const symbols = (await api.ask('/symbols')).body.symbols as { symbol: string; firstDate: unknown }[];
    expect(symbols.find((one) => one.symbol === 'XAU')!.firstDate).toBeNull();
    expect((await api.ask('/health')).body.simulated).toBe(false);
  });
});

onEachEngine('a service with OPENPIT_DEMO=false on the ledger of a demo', (engine) => {
  const demo = apiOn(engine, {}, async (own) => {
    await simulate(own);
    await own.service.publish('XAG', { '2024-05-13': 28.21, '2024-05-14': 28.62 });
    await own.service.ledger.setMeta('demo', 'on');
  });
  let service: TestService;
  let key: string;
  beforeAll(async () => {
    service = await openTestService(engine, { ledgerUrl: demo.service.ledgerUrl });
    key = await service.key();
  });
  afterAll(() => service.close());

  const HIDDEN = 'its simulated prices are hidden by OPENPIT_DEMO=false';
  const WARNING = `XAU has no data yet: ${HIDDEN}.`;
  const RANGE = 'startDate=2024-05-13&endDate=2024-05-14';

  test.each([
    'latest?symbols=XAU',
    'historical?symbols=XAU&date=2024-05-14',
    `fluctuation?symbols=XAU&${RANGE}`,
    `statistics?symbols=XAU&${RANGE}`,
  ])('refuses /rates/%s and says that prices are hidden', async (path) => {
    const response = await service.get(`/rates/${path}`, key);
    expect(response.status).toBe(404);
    expect(((await response.json()) as { message: string }).message).toContain(
      `XAU (it has no data yet: ${HIDDEN})`,
    );
  });

  test.each([
    `time-series?symbols=XAU&${RANGE}`,
    `time-series?symbols=XAU,XAG&${RANGE}`,
    `time-series?symbols=XAU&${RANGE}&asOf=2024-05-15`,
    `history?symbols=XAU&${RANGE}`,
    `history?symbols=XAG,XAU&${RANGE}&interval=month`,
    `history?symbols=XAU&${RANGE}&interval=hour`,
    `history?symbols=XAU&${RANGE}&asOf=2024-05-15`,
    `revisions?symbols=XAU&${RANGE}`,
    'revisions?symbols=XAU&date=2024-05-14',
  ])('answers /rates/%s with a warning that prices are hidden', async (path) => {
    const response = await service.get(`/rates/${path}`, key);
    expect(response.status).toBe(200);
    expect(((await response.json()) as { warnings: unknown }).warnings).toEqual([WARNING]);
  });

  test.each(['csv', 'ndjson', 'parquet'])('warns in a header of a table as %s', async (format) => {
    for (const path of ['time-series', 'history', 'revisions']) {
      if (path === 'revisions' && format === 'parquet') continue; // the format does not exist there
      const response = await service.get(`/rates/${path}?symbols=XAU&${RANGE}&format=${format}`, key);
      expect(response.status, path).toBe(200);
      expect(response.headers.get('openpit-warnings'), path).toBe(WARNING);
    }
  });

  test('warns about a formula with a hidden symbol, and not about a symbol with real prices', async () => {
    const ask = async (symbols: string) => {
      const path = `/rates/time-series?symbols=${encodeURIComponent(symbols)}&${RANGE}`;
      return ((await (await service.get(path, key)).json()) as { warnings?: string[] }).warnings;
    };
    expect(await ask('{XAU}/{XAG}')).toEqual([`{XAU}/{XAG} has no data yet: ${HIDDEN}.`]);
    expect(await ask('XAG')).toBeUndefined();
  });

  test('warns at the start of a stream', async () => {
    const url = `${service.url}/rates/stream?symbols=XAU`;
    const stream = await EventReader.open(url, { 'x-api-key': key });
    expect(await stream.take(1)).toMatchObject([{ event: 'warning', data: { message: WARNING } }]);
    stream.close();
  });

  test('tells agents and the operator of the ledger', async () => {
    const client = await connectAgent(service.url, { 'x-api-key': key });
    const range = { from: '2024-05-13', to: '2024-05-14' };
    const { text } = await callTool(client, 'price_series', { symbol: 'XAU', ...range });
    await client.close();
    expect(text).toBe(`XAU has no prices from 2024-05-13 to 2024-05-14. ${WARNING}`);
    const options = { clock: service.clock, historyBytesMax: 1e6, simulated: false };
    const local = await LocalRates.open(service.ledger, options);
    const params = { symbols: 'XAU', startDate: range.from, endDate: range.to };
    for (const interval of ['day', 'hour']) {
      expect(await local.ask('/rates/history', { ...params, interval }), interval).toMatchObject({
        rates: [],
        warnings: [WARNING],
      });
    }
  });
});
