import { beforeAll, expect, test } from 'bun:test';
import {
  ECB_HISTORY,
  eiaJson,
  FRED_NEW,
  FRED_OLD,
  fredJson,
  fredSeries,
  IMF_CSV,
  LBMA_JSON,
  pinkSheet,
  STOOQ_CSV,
  yahooJson,
  zipOf,
} from '../../../test/support/feeds/feed-bodies.ts';
import { fakeRuntime, StubServer } from '../../../test/support/feeds/stub-server.ts';
import { onEachEngine } from '../../../test/support/ledger.ts';
import { day, ledgersOf } from '../../../test/support/ledgers.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { runFeed } from '../run/runner.ts';
import { PROVIDERS, providerOf } from './index.ts';

const NOW = Date.parse('2026-09-15T14:00:00Z');
const WORKBOOK = '/en/doc/CMO-Historical-Data-Monthly.xlsx';

/** Every provider at its own paths, on one server. */
function respond({ url }: Request): Response {
  const { pathname, searchParams } = new URL(url);
  const id = searchParams.get('id') ?? searchParams.get('series_id') ?? '';
  if (pathname === '/graph/fredgraph.csv') {
    if (id === 'DCOILWTICO') return new Response(FRED_OLD);
    return new Response(id === 'DHHNGSP' ? FRED_NEW : `observation_date,${id}\n2026-08-03,1.5\n`);
  }
  if (pathname === '/fred/series') return new Response(fredSeries('Dollars per Million BTU'));
  if (pathname === '/fred/series/observations') return new Response(fredJson());
  if (pathname.startsWith('/v2/')) return new Response(eiaJson({ warnings: [] }));
  if (pathname === '/en/research/commodity-markets') {
    return new Response(`<!doctype html><a href="https://thedocs.worldbank.org${WORKBOOK}">Monthly</a>`);
  }
  if (pathname === WORKBOOK) return new Response(pinkSheet());
  if (pathname.endsWith('eurofxref-hist.zip'))
    return new Response(zipOf({ 'eurofxref-hist.csv': ECB_HISTORY }));
  if (pathname.startsWith('/external/sdmx/')) return new Response(IMF_CSV);
  if (pathname.startsWith('/json/')) return new Response(LBMA_JSON);
  if (pathname.startsWith('/v8/'))
    return new Response(yahooOf(decodeURIComponent(pathname.split('/').at(-1)!)));
  if (pathname === '/q/d/l/') return new Response(STOOQ_CSV);
  return new Response('no such path', { status: 404 });
}

function yahooOf(symbol: string): string {
  const series = providerOf('yahoo')!.series.find((one) => one.id === symbol)!;
  return yahooJson({ symbol, currency: series.published?.currency ?? series.currency });
}

onEachEngine('the real adapters through the real runner', (engine) => {
  const server = new StubServer();
  server.respond = respond;
  const ledgers = ledgersOf(engine);
  let ledger: Ledger;
  beforeAll(async () => {
    ledger = await ledgers.new();
  });

  const run = (key: string, secrets = {}) =>
    runFeed(
      providerOf(key)!,
      {
        ledger,
        providers: PROVIDERS,
        secrets,
        runtime: fakeRuntime(NOW),
        holder: 'me',
        signal: new AbortController().signal,
      },
      { baseUrl: server.url },
    );
  const closeOf = async (code: string, date: string) => {
    const all = [...(await ledger.symbols.list()), ...(await ledger.symbols.currencies())];
    const { id } = all.find((one) => one.code === code)!;
    return (await ledger.bars.revisions(id, 'real', day(date), day(date))).at(-1)?.close;
  };

  test('EIA: a negative price, and nothing where the value is null', async () => {
    expect(await run('eia')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('OPENPIT_EIA_API_KEY'),
    });
    const result = await run('eia', { OPENPIT_EIA_API_KEY: 'SECRET-KEY' });
    expect(result).toMatchObject({ status: 'ok', message: undefined, taken: 2 });
    expect(result!.missing).toBeGreaterThan(0);
    expect(await closeOf('WTIOIL-SPOT', '2020-04-20')).toBe(-36.98);
    expect(await closeOf('WTIOIL-SPOT', '2008-07-03')).toBe(145.31);
    expect(await closeOf('NG-SPOT', '2018-01-05')).toBeUndefined();
    expect(JSON.stringify(await ledger.feeds.history(10))).not.toContain('SECRET-KEY');
  });

  test('World Bank: from the landing page to the workbook', async () => {
    expect(await run('world-bank')).toMatchObject({ status: 'ok', requests: 2, refused: 0 });
    expect(await closeOf('DBLC1', '2026-05-01')).toBe(94.67);
    expect(await closeOf('RB1COAL', '1960-01-01')).toBeUndefined();
  });

  test('FRED: CSV for everyone, JSON with a key', async () => {
    expect(await run('fred')).toMatchObject({ status: 'ok', refused: 0 });
    expect(await closeOf('BRENTOIL-SPOT', '2020-04-20')).toBe(17.36);
    expect(await closeOf('NG-SPOT', '2018-01-05')).toBeUndefined();
    expect(await closeOf('NG-SPOT', '2018-01-04')).toBe(6.24);
  });

  test('ECB: exchange rates, in series that are not listed as symbols', async () => {
    expect(await run('ecb')).toMatchObject({ status: 'ok', taken: 5, missing: 1, refused: 0 });
    expect(await closeOf('EUR/USD', '2020-04-20')).toBe(1.086);
    expect(await closeOf('EUR/JPY', '2020-04-20')).toBe(117.11);
    expect((await ledger.symbols.list()).some(({ code }) => code.includes('/'))).toBe(false);
  });

  test('IMF, LBMA and Yahoo', async () => {
    expect(await run('imf')).toMatchObject({ status: 'ok' });
    expect(await run('lbma')).toMatchObject({ status: 'ok' });
    expect(await closeOf('XAU', '1968-04-01')).toBe(37.7);
    const yahoo = await run('yahoo');
    expect(yahoo).toMatchObject({ status: 'ok', message: undefined });
    expect(yahoo!.notes[0]).toEqual({ kind: 'ignored', where: 'CL=F bar 3', reason: 'it is still forming' });
    expect(yahoo!.ignored).toBe(providerOf('yahoo')!.series.length);
    expect(await closeOf('WTIOIL-FUT', '2020-04-20')).toBe(-37.63);
  });

  test('Stooq: a short row has no value, the others are published', async () => {
    const result = await run('stooq');
    expect(result).toMatchObject({ status: 'ok' });
    expect(result!.missing).toBeGreaterThan(0);
  });

  test('a symbol stays with one of several enabled feeds', async () => {
    for (const { key } of PROVIDERS) await ledger.feeds.enable(key, NOW, NOW + 1);
    const stooq = await run('stooq');
    expect(stooq!.corrected).toBe(0);
    expect(stooq!.notes.map(({ kind, where }) => [kind, where])).toContainEqual(['elsewhere', 'yahoo']);
    expect((await run('fred'))!.notes[0]).toMatchObject({ kind: 'elsewhere', where: 'eia' });
  });
});
