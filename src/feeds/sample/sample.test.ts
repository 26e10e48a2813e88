import { describe, expect, test } from 'bun:test';
import { apiOn } from '../../../test/support/api.ts';
import type { TestService } from '../../../test/support/service.ts';
import { systemRuntime } from '../fetch/runtime.ts';
import { PROVIDERS } from '../providers/index.ts';
import { type LoadedEdition, loadSample } from './load.ts';

/** After the newest day of the bundle. */
const NOW = Date.UTC(2026, 7, 20, 12);

/** Loads the bundle, or the parts of some providers. */
function load({ ledger, clock, core }: TestService, providers?: string[]): Promise<LoadedEdition[]> {
  const parts = {
    ledger,
    providers: PROVIDERS.filter(({ key }) => providers?.includes(key) ?? true),
    secrets: {},
    runtime: systemRuntime(clock),
    holder: crypto.randomUUID(),
    signal: new AbortController().signal,
  };
  return loadSample(parts).finally(() => core.follow());
}

const takenOf = (editions: readonly LoadedEdition[]) =>
  editions.map(({ provider, outcome }) => [
    provider,
    outcome.kind === 'loaded' ? outcome.run.taken : outcome.reason,
  ]);

describe('the bundle of real history, loaded', () => {
  let loaded: LoadedEdition[];
  const api = apiOn('sqlite', { now: NOW }, async ({ service }) => {
    await service.publish('HG-AVG', { '2024-01-01': 1 }, 'desk');
    await service.publish('JET', { '2024-01-01': 1 }, 'desk'); // EIA publishes it, but it is not in the bundle
    loaded = await load(service);
  });
  const barOn = async (date: string, symbols: string, more = '') => {
    const { body } = await api.ask(`/rates/historical?date=${date}&symbols=${symbols}${more}`);
    return body as { rates: Record<string, { close: number }>; metadata: Record<string, object> };
  };

  test.each([
    ['WTIOIL-SPOT', '2020-04-20', -36.98],
    ['WTIOIL-FUT', '2020-04-20', -37.63],
    ['WTIOIL-SPOT', '2008-07-03', 145.31],
    ['BRENTOIL-SPOT', '2008-07-03', 143.95],
    ['NG-SPOT', '2021-02-17', 23.86],
    ['XAU-AVG', '2024-03-01', 2158.01],
    ['IORECR', '2024-03-01', 109.79],
  ])('%s on %s is %d', async (symbol, date, price) => {
    expect((await barOn(date, symbol)).rates[symbol]!.close).toBe(price);
  });

  test.each(['2018-01-05', '2024-07-04'])('Henry Hub on %s is missing, and not 0', async (date) => {
    const path = `/rates/time-series?symbols=NG-SPOT&startDate=${date}&endDate=${date}`;
    expect((await api.ask(path)).body.rates).toEqual({});
  });

  test("the ECB's rates convert: 1.086 dollars and 117.11 yen for a euro on 2020-04-20", async () => {
    const { ledger } = api.service;
    const names = new Map((await ledger.symbols.currencies()).map(({ code, id }) => [code, id]));
    const day = Date.UTC(2020, 3, 20) / 86_400_000;
    const closeOf = async (code: string) =>
      (await ledger.bars.revisions(names.get(code)!, 'real', day, day))[0]!.close;
    expect(await closeOf('EUR/USD')).toBe(1.086);
    expect(await closeOf('EUR/JPY')).toBe(117.11);
    const inYen = await barOn('2008-07-03', 'WTIOIL-SPOT', '&quote=JPY');
    expect(inYen.metadata).toMatchObject({ 'WTIOIL-SPOT': { quote: 'JPY', source: 'eia, ecb' } });
  });

  test('each price names its source, and /feeds its licence', async () => {
    const { metadata } = await barOn('2024-03-01', 'XAU-AVG,WTIOIL-SPOT');
    expect(metadata).toMatchObject({ 'XAU-AVG': { source: 'world-bank' }, 'WTIOIL-SPOT': { source: 'eia' } });
    api.service.clock.time += 5_000;
    await api.service.core.follow();
    const { body } = await api.ask('/feeds');
    const feeds = body.feeds as { key: string }[];
    expect(feeds.map(({ key }) => key).sort()).toEqual(['ecb', 'eia', 'world-bank']);
    expect(JSON.stringify(feeds)).toContain('CC BY 4.0');
  });

  test('real prices from elsewhere are kept, and their symbols are listed', async () => {
    expect(
      loaded.map(({ provider, outcome }) => [provider, outcome.kind === 'loaded' && outcome.kept]),
    ).toEqual([
      ['eia', []],
      ['world-bank', ['HG-AVG']],
      ['ecb', []],
    ]);
    expect((await barOn('2024-01-01', 'HG-AVG')).rates['HG-AVG']!.close).toBe(1);
    const [history] = await api.service.ledger.feeds.history(1, 'world-bank');
    expect(history!.message).toBe('from the bundled edition of 2026-06-02');
  });

  test('loading again changes nothing, and a feed that has fetched newer data is left alone', async () => {
    const { ledger } = api.service;
    expect(takenOf(await load(api.service, ['eia', 'world-bank']))).toEqual([
      ['eia', 0],
      ['world-bank', 0],
    ]);
    const lease = { feed: 'ecb', holder: 'test', leaseMs: 1_000, started: NOW };
    const [before] = await ledger.feeds.history(1, 'ecb');
    const body = { urlHash: 'x', etag: undefined, lastModified: undefined, observations: 1 };
    const taken = await ledger.feeds.take(lease);
    const finish = { ended: NOW, report: before!, nextRun: NOW, lateAt: NOW, isFull: true, bodies: [body] };
    await ledger.feeds.finish(taken!, finish);
    expect(takenOf(await load(api.service, ['ecb']))).toEqual([
      ['ecb', 'the feed ecb has fetched newer data'],
    ]);
  });

  test('the feed of a bundled provider still fetches all history when it is enabled', async () => {
    const lease = { feed: 'world-bank', holder: 'test', leaseMs: 1_000, started: NOW };
    expect((await api.service.ledger.feeds.take(lease))!.lastFull).toBeUndefined();
  });
});

describe('the bundle, loaded after "feed enable --all" without a network', () => {
  const api = apiOn('sqlite', { now: NOW }, async ({ service }) => {
    await service.ledger.feeds.enable('fred', NOW, NOW);
    await load(service, ['eia', 'fred']);
  });
  const closesOn = async (date: string, symbols: string) => {
    const { body } = await api.ask(`/rates/historical?date=${date}&symbols=${symbols}`);
    const rates = body.rates as Record<string, { close: number }>;
    return Object.fromEntries(Object.entries(rates).map(([code, { close }]) => [code, close]));
  };

  test('it has the prices of a provider whose symbols an enabled feed would supply, but has not', async () => {
    const symbols = 'WTIOIL-SPOT,BRENTOIL-SPOT,NG-SPOT';
    expect(await closesOn('2021-02-17', symbols)).toEqual({
      'WTIOIL-SPOT': 61.09,
      'BRENTOIL-SPOT': 65.02,
      'NG-SPOT': 23.86,
    });
  });

  test('loading it again keeps the corrections of that feed', async () => {
    await api.service.publish('BRENTOIL-SPOT', { '2021-02-17': 64 }, 'fred');
    await load(api.service, ['eia', 'fred']);
    expect(await closesOn('2021-02-17', 'BRENTOIL-SPOT')).toEqual({ 'BRENTOIL-SPOT': 64 });
  });
});
