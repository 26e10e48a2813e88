import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { demoFolder } from '../../support/database/demo-folder.ts';
import { newFolder } from '../../support/ledger.ts';
import { openpit, Program } from '../../support/program.ts';
import { PricePusher, TOKEN } from '../faults/price-pusher.ts';

const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false', OPENPIT_ADMIN_TOKEN: TOKEN };
const nowhere = { OPENPIT_DATA_DIR: join(newFolder(), 'missing') };

let program: Program;
let key: string;
beforeAll(async () => {
  await importPrices('XAU', '2024-04-30,2286.3\n2024-05-13,2336.1\n2024-05-14,12358.25\n');
  await importPrices('XAG', '2024-04-30,26.3\n2024-05-13,28.21\n2024-05-14,28.625\n');
  const created = await openpit(['account', 'create', '--name', 'A', '--plan', 'pro', '--json'], settings);
  key = JSON.parse(created.stdout).key;
  program = await Program.start(settings);
}, 60_000);
afterAll(() => program.end());

async function importPrices(symbol: string, rows: string): Promise<void> {
  const file = join(settings.OPENPIT_DATA_DIR, `${symbol}.csv`);
  await Bun.write(file, `date,close\n${rows}`);
  expect(await openpit(['import', file, '--symbol', symbol], settings)).toMatchObject({ exitCode: 0 });
}

const fromServer = (...args: string[]) =>
  openpit([...args, '--url', program.url], { ...nowhere, OPENPIT_KEY: key });

async function used(): Promise<number> {
  const response = await program.get('/usage', key);
  return ((await response.json()) as { used: number }).used;
}

test('openpit latest prints an aligned table without colours, the same from the ledger and from a server', async () => {
  const { stdout } = await openpit(['latest', 'XAU', 'XAG'], settings);
  expect(stdout).toBe(
    [
      'symbol       price  in        at          source',
      'XAU     12,358.25   USD/T.oz  2024-05-14  import, stale',
      'XAG         28.625  USD/T.oz  2024-05-14  import, stale',
      '',
    ].join('\n'),
  );
  expect(await fromServer('latest', 'XAU', 'XAG')).toMatchObject({ exitCode: 0, stdout });
}, 60_000);

test('openpit latest takes formulas, and prints JSON and CSV', async () => {
  const { stdout } = await openpit(['latest', '{XAU}-{XAG}', '--csv'], settings);
  expect(stdout).toBe(
    'symbol,rate,unit,quote,factor,at,source,stale\n{XAU}-{XAG},12329.625,T.oz,USD,1,2024-05-14,import,true\n',
  );
  const json = JSON.parse((await openpit(['latest', 'XAU', '--json'], settings)).stdout);
  expect(json).toMatchObject({ success: true, rates: { XAU: 12358.25 } });
}, 60_000);

test('the CSV of openpit latest and openpit history is that of the service', async () => {
  const range = 'startDate=2024-04-01&endDate=2024-05-31';
  for (const [args, path] of [
    [['latest'], '/rates/latest?'],
    [['history', '--from', '2024-04-01', '--to', '2024-05-31'], `/rates/history?${range}&`],
  ] as const) {
    const { stdout } = await openpit([...args, 'XAU', 'XAG', '--unit', 'kg', '--csv'], settings);
    expect(stdout).toContain(',Kg,USD,32.1507465686,');
    const response = await program.get(`${path}symbols=XAU,XAG&unit=kg&format=csv`, key);
    expect(stdout.split('\n')).toEqual((await response.text()).split('\r\n'));
  }
}, 60_000);

test('an unknown symbol names the command that lists codes, and for a server its path', async () => {
  for (const args of [
    ['latest', 'XAUU'],
    ['history', 'XAUU', '--from', '2024-05-14'],
    ['watch', 'XAUU'],
  ]) {
    const { exitCode, stderr } = await openpit(args, settings);
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining('. openpit symbols list lists all codes.'),
    ]);
    expect((await fromServer(...args)).stderr).toContain('. GET /symbols lists all codes.');
  }
}, 60_000);

test('no text of a server is a formula in the CSV, and a negative price stays a number', async () => {
  const row = { date: '2024-05-14', symbol: '@XAU', open: -1, high: -1, low: -1, close: -1, average: -1 };
  using server = Bun.serve({
    port: 0,
    fetch: ({ url }) =>
      Response.json(
        url.includes('/latest')
          ? {
              rates: { '-{XAU}': -1 },
              metadata: { '-{XAU}': { quote: 'USD', unit: 'T.oz', at: '2024-05-14', source: '=1+1' } },
            }
          : { rates: [{ ...row, count: 1 }], next: null, metadata: {} },
      ),
  });
  const ask = async (...args: string[]) =>
    (await openpit([...args, '--csv', '--url', `${server.url}`], { ...nowhere, OPENPIT_KEY: 'any' })).stdout;
  expect(await ask('latest', 'XAU')).toEndWith("\n'-{XAU},-1,T.oz,USD,1,2024-05-14,'=1+1,\n");
  expect(await ask('history', 'XAU', '--from', '2024-05-14')).toEndWith(
    "\n2024-05-14,'@XAU,-1,-1,-1,-1,,,1,,-1,1\n",
  );
}, 60_000);

test('openpit history prints one table per symbol, by any interval', async () => {
  const args = ['history', 'XAU', 'XAG', '--from', '2024-04-01', '--to', '2024-05-31', '--interval', 'month'];
  const { stdout } = await openpit(args, settings);
  expect(stdout).toBe(
    [
      'XAU, USD/T.oz, source import',
      'date            open       high       low      close   average',
      '2024-04-01  2,286.30   2,286.30  2,286.30   2,286.30  2,286.30',
      '2024-05-01  2,336.10  12,358.25  2,336.10  12,358.25  7,347.18',
      '',
      'XAG, USD/T.oz, source import',
      'date          open    high     low   close  average',
      '2024-04-01  26.300  26.300  26.300  26.300   26.300',
      '2024-05-01  28.210  28.625  28.210  28.625   28.418',
      '',
    ].join('\n'),
  );
  expect(await fromServer(...args)).toMatchObject({ exitCode: 0, stdout });
}, 60_000);

test('openpit history names the source of a symbol whose prices end before the last page', async () => {
  const days = Array.from({ length: 2_100 }, (_, i) =>
    new Date(Date.UTC(2015, 0, 1 + i)).toISOString().slice(0, 10),
  );
  await importPrices('PA', days.map((day) => `${day},1000\n`).join(''));
  await importPrices('ZINC', '2015-01-01,2000\n');
  const args = ['history', 'PA', 'ZINC', '--from', '2015-01-01', '--to', '2020-12-31'];
  const { stdout } = await openpit(args, settings);
  expect(stdout.split('\n').filter((line) => line.includes('source'))).toEqual([
    'PA, USD/T.oz, source import',
    'ZINC, USD/MT, source import',
  ]);
}, 60_000);

test('openpit history prints minutes and hours, the same from the ledger and from a server', async () => {
  const at = Date.now() - 60_000;
  const ticks = [28.5, 29.75].map((price, i) => ({ symbol: 'XPT', price, at: at + i }));
  expect(await new PricePusher().post(program.url, 'ticks', ticks)).toBe(200);
  const withoutDelay = ['--quota', '1000', '--delay-seconds', '0', '--history', 'on'];
  expect(await openpit(['plan', 'set', 'live', ...withoutDelay], settings)).toMatchObject({ exitCode: 0 });
  const from = new Date(at - 86_400_000).toISOString().slice(0, 10);
  const to = new Date(at + 86_400_000).toISOString().slice(0, 10);
  const args = ['history', 'XPT', '--from', from, '--to', to, '--interval', 'hour', '--csv'];
  const { stdout } = await openpit(args, settings);
  const { key: live } = JSON.parse(
    (await openpit(['account', 'create', '--name', 'B', '--plan', 'live', '--json'], settings)).stdout,
  );
  const hour = `${new Date(at).toISOString().slice(0, 13)}:00:00Z`;
  expect(stdout).toStartWith(
    `date,symbol,open,high,low,close,unit,quote,factor,source,average,count\n${hour},XPT,28.5,29.75,28.5,29.75,T.oz,USD,1,`,
  );
  const server = await openpit([...args, '--url', program.url], { ...nowhere, OPENPIT_KEY: live });
  expect(server).toMatchObject({ exitCode: 0, stdout });
}, 60_000);

test('openpit history ends with the newest trade date, which may be tomorrow in UTC', async () => {
  const asked: (string | null)[] = [];
  using server = Bun.serve({
    port: 0,
    fetch({ url }) {
      asked.push(new URL(url).searchParams.get('endDate'));
      return Response.json({ success: true, rates: [], next: null, metadata: {} });
    },
  });
  const { stdout } = await openpit(['history', 'XAU', '--from', '2024-05-01', '--url', `${server.url}`], {
    ...nowhere,
    OPENPIT_KEY: 'any',
  });
  expect(asked).toEqual(['2199-12-31']);
  expect(stdout).toBe('No prices from 2024-05-01.\n');
}, 60_000);

test('a mistake names the option, and a missing key the variable', async () => {
  const mistake = async (...args: string[]) => (await openpit(['history', 'XAU', ...args], settings)).stderr;
  expect(await mistake('--from', '2190-01-01')).toContain('--from is in the future');
  expect(await mistake('--from', '2024-05-02', '--to', '2024-05-01')).toContain(
    '--from 2024-05-02 is after --to 2024-05-01. Swap them.',
  );
  for (const command of ['latest', 'watch']) {
    const { exitCode, stderr } = await openpit([command, 'XAU', '--url', program.url], nowhere);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('OPENPIT_KEY');
    const twoLines = { ...nowhere, OPENPIT_KEY: 'pit_live_one\npit_live_two' };
    const wrong = await openpit([command, 'XAU', '--url', program.url], twoLines);
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stderr).toContain(
      'the environment variable OPENPIT_KEY contains a character that cannot occur in an API key',
    );
  }
}, 60_000);

test('a mistake is explained as the server does, with exit code 2', async () => {
  const local = await openpit(['latest', 'GOLDD'], settings);
  expect(local).toMatchObject({ exitCode: 2, stdout: '' });
  expect(local.stderr).toContain('did you mean XAU');
  const before = await used();
  const stderr = local.stderr.replace('openpit symbols list', 'GET /symbols');
  expect(await fromServer('latest', 'GOLDD')).toMatchObject({ exitCode: 2, stderr });
  expect(await used()).toBe(before);
  const mistakes = [
    ['history', 'XAU', '--from', '2024-02-30'],
    ['export', '--symbols', 'XAU', '--from', '2024-02-30'],
    ['latest', 'XAU', '--currency', 'QQQ'],
    ['export', '--symbols', 'XAU', '--quote', 'QQQ'],
  ];
  for (const args of mistakes) expect(await openpit(args, settings)).toMatchObject({ exitCode: 2 });
  expect(await openpit(['latest', 'CORN'], settings)).toMatchObject({ exitCode: 1 }); // it has no prices yet
}, 60_000);

test('advice to leave the currency out names the option', async () => {
  const request = async (...args: string[]) => (await openpit(args, settings)).stderr;
  expect(await request('latest', 'GOLDSILVER', '--currency', 'EUR')).toEndWith(
    '"EUR". Request it without --currency.\n',
  );
  expect(await request('export', '--symbols', 'GOLDSILVER', '--quote', 'EUR')).toEndWith(
    '"EUR". Request it without --quote.\n',
  );
}, 60_000);

test('on the ledger of a demo, OPENPIT_DEMO=false says that simulated prices are hidden, and doctor that there are no others', async () => {
  const hiding = { OPENPIT_DATA_DIR: await demoFolder(), OPENPIT_DEMO: 'false' };
  const hidden = 'XAU (it has no data yet: its simulated prices are hidden by OPENPIT_DEMO=false)';
  expect((await openpit(['latest', 'XAU'], hiding)).stderr).toContain(hidden);
  expect((await openpit(['doctor'], hiding)).stdout).toMatch(
    /^WARNING +feeds\.enabled +no feed is enabled, and the simulated prices are hidden by OPENPIT_DEMO=false$/m,
  );
  expect((await openpit(['latest', 'CORN'], settings)).stderr).toContain('CORN (it has no data yet)');
}, 60_000);

test('without a ledger and without --url it says where it looked', async () => {
  const { exitCode, stderr } = await openpit(['latest', 'XAU'], nowhere);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('there is no ledger in');
  expect(stderr).toContain('--url');
});

test('a server that cannot be reached is named, and a wrong URL refused', async () => {
  for (const command of ['latest', 'watch']) {
    const away = await openpit([command, 'XAU', '--url', 'http://127.0.0.1:1'], nowhere);
    expect(away.exitCode).toBe(1);
    expect(away.stderr).toMatch(
      /^openpit: http:\/\/127\.0\.0\.1:1 cannot be reached; check the address, .* Unable to connect\.\)\n$/,
    );
  }
  expect(await openpit(['latest', 'XAU', '--url', 'rates'], nowhere)).toMatchObject({ exitCode: 2 });
});

test('a wrong path in --url is named, without the paths of the server', async () => {
  const commands = [
    ['latest', 'XAU'],
    ['history', 'XAU', '--from', '2024-04-30'],
    ['watch', 'XAU'],
  ];
  for (const args of commands) {
    const url = `${program.url}/v2/rates`;
    const { exitCode, stderr } = await openpit([...args, '--url', url], { ...nowhere, OPENPIT_KEY: key });
    expect(stderr).toBe(
      `openpit: the server does not have this interface at ${url}; check --url: it is where the interface begins, such as ${program.url} or ${program.url}/v2\n`,
    );
    expect(exitCode).toBe(1);
  }
}, 60_000);

test('openpit history says beside its prices which symbols have none in the range', async () => {
  await importPrices('PL', '2024-05-14,1000\n');
  const warning = 'The data of PL starts on 2024-05-14, after this range.\n';
  for (const output of [[], ['--csv']]) {
    const args = ['history', 'XAU', 'PL', '--from', '2024-04-30', '--to', '2024-04-30', ...output];
    const { exitCode, stdout, stderr } = await openpit(args, settings);
    expect({ output, exitCode, stderr }).toEqual({ output, exitCode: 0, stderr: warning });
    expect(stdout).toContain('2024-04-30');
  }
}, 60_000);

test('an unknown symbol beside a known one is refused by every version of the interface', async () => {
  const url = `${program.url}/v3`;
  for (const args of [
    ['latest', 'XAU', 'XAUU'],
    ['history', 'XAU', 'XAUU', '--from', '2024-05-14', '--csv'],
  ]) {
    const found = await openpit([...args, '--url', url], { ...nowhere, OPENPIT_KEY: key });
    expect(found).toMatchObject({ exitCode: 2, stdout: '' });
    expect(found.stderr).toContain('Unknown symbol: XAUU');
  }
}, 60_000);
