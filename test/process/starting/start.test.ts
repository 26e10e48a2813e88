import { afterEach, expect, test } from 'bun:test';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { demoFolder } from '../../support/database/demo-folder.ts';
import { newFolder, newLedgerUrl } from '../../support/ledger.ts';
import { eventually, openpit, Program } from '../../support/program.ts';
import { LISTED_SIZE } from '../../support/responses/catalogue.ts';

interface SymbolList {
  symbols: { firstDate: string; lastDate: string }[];
}

let program: Program | undefined;
afterEach(async () => {
  await program?.end('SIGKILL');
  program = undefined;
});

test('a first start provides ten years of simulated prices for every symbol, a key, and a command to paste', async () => {
  const dataDir = join(newFolder(), 'new', 'data');
  program = await Program.start({ OPENPIT_DATA_DIR: dataDir });
  expect(program.stdout).toContain('SIMULATED');
  expect(program.stdout).toContain(`${program.url}/#key=${program.key}\n`);
  expect(program.stdout).toContain('openpit feed enable --all');
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  for (const name of ['demo-key', 'openpit.db'])
    expect(statSync(join(dataDir, name)).mode & 0o777, name).toBe(0o600);

  const pasted = /curl '([^']+)'/.exec(program.stdout)![1]!;
  const latest = await (await fetch(pasted)).json();
  expect(latest).toMatchObject({ success: true, metadata: { XAU: { source: 'simulated' } } });

  const { symbols } = (await (await program.get('/symbols')).json()) as SymbolList;
  const today = new Date().getUTCFullYear();
  expect(symbols).toHaveLength(LISTED_SIZE);
  for (const { firstDate, lastDate } of symbols) {
    expect(today - Number(firstDate.slice(0, 4))).toBeGreaterThanOrEqual(11);
    expect(Number(lastDate.slice(0, 4))).toBeGreaterThanOrEqual(today - 1);
  }
  expect(await (await program.get('/health')).json()).toMatchObject({ ready: true, simulated: true });
}, 180_000);

test('a second start keeps the key and the data, and SIGTERM stops it cleanly', async () => {
  const settings = { OPENPIT_DATA_DIR: await demoFolder() };
  program = await Program.start(settings);
  const { key } = program;
  const before = await (await program.get('/rates/historical?symbols=XAU&date=2020-03-02')).text();
  expect(await program.end()).toBe(0);
  program = await Program.start(settings);
  expect(program.key).toBe(key);
  expect(await (await program.get('/rates/historical?symbols=XAU&date=2020-03-02')).text()).toBe(before);
}, 180_000);

test('stopping npm start stops the program', async () => {
  const npm = Bun.spawn(['npm', 'start'], {
    cwd: join(import.meta.dir, '..', '..', '..'),
    env: { ...process.env, OPENPIT_PORT: '0', OPENPIT_DEMO: 'false', OPENPIT_DATA_DIR: newFolder() },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let url: string | undefined;
  let said = '';
  for await (const bytes of npm.stdout) {
    said += new TextDecoder().decode(bytes);
    url = /listens on (http:\S+)/.exec(said)?.[1];
    if (url) break;
  }
  expect((await fetch(`${url}/health`)).status).toBe(200);
  npm.kill('SIGTERM');
  await npm.exited;
  const isGone = () =>
    fetch(`${url}/health`).then(
      () => false,
      () => true,
    );
  await eventually(isGone);
}, 180_000);

test('OPENPIT_DEMO=false starts empty', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false' };
  program = await Program.start(settings);
  expect(program.stdout).not.toContain('pit_live_');
  expect(program.stdout).toContain('openpit feed enable --all');
  const { stdout } = await openpit(['account', 'create', '--name', 'A', '--plan', 'pro', '--json'], settings);
  const answer = await program.get('/rates/latest?symbols=XAU', JSON.parse(stdout).key);
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ success: false, code: 'no_data' });
}, 180_000);

test('on PostgreSQL there is no demo data unless it is requested', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DATABASE_URL: await newLedgerUrl('postgres') };
  program = await Program.start(settings);
  expect(program.stdout).not.toContain('pit_live_');
}, 180_000);
