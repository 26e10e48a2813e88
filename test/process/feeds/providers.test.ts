import { describe, expect, test } from 'bun:test';
import { worldBank } from '../../../src/feeds/providers/world-bank.ts';
import { bundledProvider, EDITIONS } from '../../../src/feeds/sample/bundle.ts';
import { ECB_HISTORY, ECB_XML, zipOf } from '../../support/feeds/feed-bodies.ts';
import { StubServer } from '../../support/feeds/stub-server.ts';
import { newFolder } from '../../support/ledger.ts';
import { openpit } from '../../support/program.ts';

/** The addresses of the four providers that anybody may use. */
const PLACES: readonly (readonly [key: string, name: string, path: string])[] = [
  ['world-bank', 'page', '/pink-sheet.xlsx'],
  ['imf', 'data', '/imf?series={ids}'],
  ['fred', 'csv', '/fred?id={id}'],
  ['ecb', 'history', '/history.zip'],
  ['ecb', 'recent', '/recent.xml'],
];

/** A ledger whose feeds fetch from this address. */
async function ledgerAt(url: string): Promise<Record<string, string>> {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_EIA_API_KEY: '', OPENPIT_FRED_API_KEY: '' };
  await openpit(['migrate'], settings);
  for (const [key, name, path] of PLACES) {
    const set = await openpit(['feed', 'set', key, '--url', `${name}=${url}${path}`], settings);
    expect(set).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('replaced') });
  }
  return settings;
}

async function bundledPinkSheet(): Promise<Uint8Array> {
  const edition = EDITIONS.find(({ provider }) => provider === 'world-bank')!;
  const { provider, archive } = bundledProvider(worldBank, edition);
  return archive.read(provider.requests({})[0]!);
}

describe('two healthy providers, one that is gone and one that has changed', () => {
  const server = new StubServer();
  const bodies: Record<string, () => Promise<Response> | Response> = {
    '/pink-sheet.xlsx': async () => new Response(await bundledPinkSheet()),
    '/history.zip': () => new Response(zipOf({ 'eurofxref-hist.csv': ECB_HISTORY })),
    '/recent.xml': () => new Response(ECB_XML),
    '/fred': () => new Response('Day;Price\n2026-05-01;1.5\n'),
  };
  server.respond = (request) =>
    bodies[new URL(request.url).pathname]?.() ?? new Response('', { status: 404 });

  test('`feed enable --all` runs all, reports each, and lists what is real and what would supply the rest', async () => {
    const settings = await ledgerAt(server.url);
    const { exitCode, stdout, stderr } = await openpit(['feed', 'enable', '--all'], settings);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('imf, fred failed; "openpit feed doctor" shows why');
    expect(stdout).toMatch(/^world-bank: 49,\d{3} new prices$/m);
    expect(stdout).toMatch(/^ecb: 5 new prices$/m);
    expect(stdout).toContain('imf: failed: the provider answered 404');
    expect(stdout).toMatch(/^fred: failed: .*no line has DATE or observation_date first/m);
    expect(stdout).toContain('70 symbols with real prices');
    expect(stdout).toMatch(/XAU-AVG +2026-05-01 +world-bank/);
    expect(stdout).toMatch(/a free key in OPENPIT_EIA_API_KEY, then openpit feed enable eia: .*WTIOIL-FUT/);
    expect(stdout).toMatch(/a licence, then openpit feed enable lbma: .*XAU/);
    expect(stdout).toMatch(/the feed fred, once it succeeds .*: .*WTIOIL-SPOT/);
    expect(stdout).toMatch(/your own prices .*: .*EUA/);
    const listed = await openpit(['feed', 'list', '--json'], settings);
    const on = (JSON.parse(listed.stdout) as { key: string; enabled: boolean }[]).filter(
      (one) => one.enabled,
    );
    expect(on.map(({ key }) => key).sort()).toEqual(['ecb', 'fred', 'imf', 'world-bank']);
  }, 120_000);

  test('`feed doctor` reports each, how it differs, and what to change', async () => {
    const settings = await ledgerAt(server.url);
    const { exitCode, stdout, stderr } = await openpit(['feed', 'doctor'], settings);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('imf, fred did not answer as expected');
    expect(stdout).toMatch(/^ok +world-bank: 70 of 70 series, the newest price of 2026-05-01$/m);
    expect(stdout).toMatch(/^ok +ecb: /m);
    expect(stdout).toMatch(/^GONE +imf: the provider answered 404$/m);
    expect(stdout).toContain('openpit feed set imf --url data=ADDRESS');
    expect(stdout).toMatch(/^CHANGED +fred: DCOILWTICO: no line has DATE .*starts with "Day;Price"/m);
    expect(stdout).toMatch(/^not tried +eia: it requires OPENPIT_EIA_API_KEY$/m);
    expect(stdout).toMatch(/^not tried +lbma: it is off/m);
    const json = await openpit(['feed', 'doctor', 'fred', '--json'], settings);
    expect(JSON.parse(json.stdout)).toMatchObject([{ key: 'fred', verdict: 'changed' }]);
  }, 120_000);

  test('a provider that has dropped a series, or blocks programs with a web page, is found out', async () => {
    const settings = await ledgerAt(server.url);
    const page = '<html><head><title>Are you a robot?</title></head></html>';
    bodies['/imf'] = () => new Response(page);
    bodies['/fred'] = () => new Response('observation_date,DCOILWTICO\n2026-05-01,60.1\n');
    const { stdout } = await openpit(['feed', 'doctor'], settings);
    expect(stdout).toMatch(/^CHANGED +imf: the body is HTML where CSV was expected.*Are you a robot\?/m);
    expect(stdout).toMatch(/^CHANGED +fred: 1 of 16 series/m);
    expect(stdout).toMatch(/without DCOILBRENTEU, /);
    expect(stdout).toMatch(/load files for BRENTOIL-SPOT, .* with openpit import/);
  }, 120_000);
});

test('without a network, `feed enable --all` says so and offers the bundle', async () => {
  const settings = await ledgerAt('http://127.0.0.1:9');
  const { exitCode, stderr } = await openpit(['feed', 'enable', '--all'], settings);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('no provider could be reached');
  expect(stderr).toContain('openpit sample load');
  const run = await openpit(['feed', 'run', 'ecb'], settings);
  expect(run.stderr).toMatch(/^openpit: feed ecb failed: .*; openpit feed doctor ecb says what to change$/m);
  const { stdout } = await openpit(['feed', 'doctor', 'ecb'], settings);
  expect(stdout).toMatch(/^UNREACHABLE +ecb: recent: the provider could not be reached/m);
}, 120_000);

test('an address must be https or local, and keep its parts in braces; --reset restores the provider’s own', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder() };
  await openpit(['migrate'], settings);
  const set = (...args: string[]) => openpit(['feed', 'set', ...args], settings);
  expect((await set('fred', '--url', 'http://mirror.example/?id={id}')).stderr).toContain('must be an https');
  expect((await set('fred', '--url', 'https://mirror.example/')).stderr).toContain('must contain {id}');
  expect((await set('fred', '--url', 'xml=https://mirror.example/')).stderr).toContain('no address xml');
  expect((await set('fred', '--url', 'https://mirror.example/?id={id}')).stdout).toContain('replaced');
  expect((await set('fred', '--reset')).stdout).not.toContain('replaced');
  const both = await set(
    'ecb',
    '--url',
    'http://127.0.0.1/hist.zip',
    '--url',
    'recent=http://127.0.0.1/90d.xml',
  );
  expect(both.stdout.match(/replaced/g)).toHaveLength(2);
  expect((await openpit(['feed', 'enable'], settings)).stderr).toContain('name a feed, or use --all');
}, 60_000);

test('`sample export` and `sample load --list` need no ledger', async () => {
  const settings = { OPENPIT_DATA_DIR: `${newFolder()}/none` };
  const { stdout } = await openpit(['sample', 'export', 'WTIOIL-SPOT'], settings);
  expect(stdout).toContain('\n2020-04-20,-36.98\n');
  expect((await openpit(['sample', 'load', '--list'], settings)).stdout).toContain('CC BY 4.0');
  const unknown = await openpit(['sample', 'export', 'EUA'], settings);
  expect(unknown.stderr).toMatch(/has no prices of EUA; it has those of AL-AVG, .*EUR\/USD, .*WTIOIL-SPOT/);
}, 60_000);

test('`sample load` says for which symbols it kept other real prices', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false' };
  await openpit(['migrate'], settings);
  const file = `${settings.OPENPIT_DATA_DIR}/own.csv`;
  await Bun.write(file, 'date,close\n2024-05-14,78.02\n');
  await openpit(['import', file, '--symbol', 'WTIOIL-SPOT'], settings);
  const { stdout } = await openpit(['sample', 'load'], settings);
  expect(stdout.match(/not loaded, because.*$/gm)).toEqual([
    'not loaded, because they have real prices from elsewhere: WTIOIL-SPOT',
  ]);
}, 120_000);
