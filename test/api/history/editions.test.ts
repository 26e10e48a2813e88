import { beforeAll, expect, test } from 'bun:test';
import { fred } from '../../../src/feeds/providers/fred.ts';
import { worldBank } from '../../../src/feeds/providers/world-bank.ts';
import { runFeed } from '../../../src/feeds/run/runner.ts';
import { apiOn, type Json } from '../../support/api.ts';
import { workbook } from '../../support/feeds/feed-bodies.ts';
import { fakeRuntime, StubServer } from '../../support/feeds/stub-server.ts';
import { onEachEngine } from '../../support/ledger.ts';

/** A Pink Sheet with one relevant series. */
function sheetOf(name: string, rows: readonly (readonly [string, number | string])[]): Uint8Array {
  return workbook('Monthly Prices', [
    ['World Bank Commodity Price Data (The Pink Sheet)'],
    ['Updated on a day'],
    [undefined, `${name} `, 'Tea, Kolkata', 'Beef **'],
    [undefined, '($/mt)', '($/kg)', '($/kg)'],
    ...rows.map(([month, price]) => [month, price, 3, 5]),
  ]);
}

/** The series of 25 % rice from October 2007 to December 2008, with the edition's marker for four months without a price. */
function riceOf(missing: string | 0): Uint8Array {
  const rows = Array.from({ length: 15 }, (_, i): [string, number | string] => {
    const month = `${i < 3 ? 2007 : 2008}M${String(((i + 9) % 12) + 1).padStart(2, '0')}`;
    return [month, i >= 5 && i <= 8 ? missing : 300 + 10 * i];
  });
  return sheetOf('Rice, Thai 25%', rows);
}

/** FRED's CSV of Henry Hub, without the rows of some days. */
function henryHub(...without: string[]): string {
  const rows = Array.from({ length: 60 }, (_, i) => {
    const date = new Date(Date.UTC(2024, 0, 1 + i)).toISOString().slice(0, 10);
    return `${date},${date === '2024-01-12' ? '13.20' : (3 + (i % 7) / 100).toFixed(2)}`;
  });
  return ['observation_date,DHHNGSP', ...rows.filter((row) => !without.includes(row.slice(0, 10)))].join(
    '\n',
  );
}

onEachEngine('two editions of one provider', (engine) => {
  const api = apiOn(engine);
  const server = new StubServer();
  const runtime = fakeRuntime(0);
  let sheet = riceOf('…');
  let gas = henryHub();
  beforeAll(() => {
    server.respond = (request) => {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname.endsWith('.xlsx')) return new Response(sheet);
      if (pathname.includes('commodity-markets'))
        return new Response(
          '<html><a href="https://thedocs.worldbank.org/CMO-Monthly.xlsx">Monthly</a></html>',
        );
      if (searchParams.get('id') === 'DHHNGSP') return new Response(gas);
      return new Response(`observation_date,${searchParams.get('id')}\n2024-01-01,70\n`);
    };
  });
  const run = async (provider: typeof fred, time: string) => {
    const { service } = api;
    runtime.time = Date.parse(time);
    const { signal } = new AbortController();
    const parts = {
      ledger: service.ledger,
      providers: [provider],
      secrets: {},
      runtime,
      holder: 'me',
      signal,
    };
    const result = await runFeed(provider, parts, { baseUrl: server.url });
    await service.core.follow();
    return result;
  };
  const ratesOf = async (path: string) => (await api.ask(path)).body.rates as Record<string, Json>;

  test('FRED: a day missing from the later edition is withdrawn, asOf still returns it, and revisions list both', async () => {
    gas = henryHub();
    expect(await run(fred, '2024-03-02T00:00:00Z')).toMatchObject({ status: 'ok', withdrawn: 0, held: 0 });
    gas = henryHub('2024-01-17');
    expect(await run(fred, '2024-04-02T00:00:00Z')).toMatchObject({ status: 'ok', withdrawn: 1 });
    const day = 'symbols=NG-SPOT&date=2024-01-17';
    const now = await api.ask(`/rates/historical?${day}`);
    expect(now.body.metadata).toMatchObject({ 'NG-SPOT': { date: '2024-01-16' } });
    const before = await api.ask(`/rates/historical?${day}&asOf=2024-04-01`);
    expect(before.body).toMatchObject({
      rates: { 'NG-SPOT': { close: 3.02 } },
      metadata: { 'NG-SPOT': { date: '2024-01-17' } },
    });
    expect((await ratesOf(`/rates/revisions?${day}`))['NG-SPOT']).toMatchObject([
      { close: 3.02, source: 'fred', reason: 'feed run 1' },
      { withdrawn: true, source: 'fred', reason: "feed run 2: not in the provider's new edition" },
    ]);
    const wild = await ratesOf('/rates/historical?symbols=NG-SPOT&date=2024-01-12');
    expect(wild['NG-SPOT']).toMatchObject({ close: 13.2 });
  });

  test('World Bank: the zeros of an older edition are never served', async () => {
    sheet = riceOf(0);
    expect(await run(worldBank, '2024-02-02T00:00:00Z')).toMatchObject({ status: 'ok', refused: 4 });
    sheet = riceOf('…');
    expect(await run(worldBank, '2024-03-02T00:00:00Z')).toMatchObject({ status: 'ok', withdrawn: 0 });
    const range = 'startDate=2007-10-01&endDate=2008-12-31';
    const years = await api.ask(`/rates/history?symbols=RICET25&${range}&interval=year`);
    expect((years.body.rates as Json[]).map(({ low }) => low)).toEqual([300, 330]);
    const change = await ratesOf(
      '/rates/fluctuation?symbols=RICET25&startDate=2008-04-01&endDate=2008-12-01',
    );
    expect(change.RICET25).toMatchObject({ startRate: 340, endRate: 440 });
  });

  test('World Bank: zeros stored by an older version of the program are withdrawn', async () => {
    const { service } = api;
    const months = Array.from({ length: 200 }, (_, i) => {
      const [year, month] = [1995 + Math.floor(i / 12), String((i % 12) + 1).padStart(2, '0')];
      return { year, month, isMissing: year === 2008 && i % 12 >= 2 && i % 12 <= 5 };
    });
    const stored = months.map((one) => [`${one.year}-${one.month}-01`, one.isMissing ? 0 : 400] as const);
    await service.publish('RICEV5', Object.fromEntries(stored), 'world-bank', 0);
    sheet = sheetOf(
      'Rice, Viet Namese 5%',
      months.map((one) => [`${one.year}M${one.month}`, one.isMissing ? '…' : 400]),
    );
    // Partial, because this sheet has no column for the rice of the other tests. A missing column withdraws nothing.
    expect(await run(worldBank, '2024-04-02T00:00:00Z')).toMatchObject({ status: 'partial', withdrawn: 4 });
    const range = 'startDate=2008-01-01&endDate=2008-12-31&interval=year';
    const year = await api.ask(`/rates/history?symbols=RICEV5&${range}`);
    expect(year.body.rates).toMatchObject([{ low: 400, high: 400 }]);
  });
});
