import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { ENGINES, newFolder, newLedgerUrl } from '../../support/ledger.ts';
import { eventually, openpit, Program } from '../../support/program.ts';

/** A server polls every 200 ms; the rest is slack for a busy machine. */
const SOON_MS = 3_000;

describe.each(ENGINES)('commands beside a running server on %s', (engine) => {
  const dataDir = newFolder();
  const settings: Record<string, string> = { OPENPIT_DATA_DIR: dataDir, OPENPIT_DEMO: 'false' };
  let program: Program;
  let key: string;

  const run = async (...args: string[]) => {
    const finished = await openpit(args, settings);
    expect(finished).toMatchObject({ exitCode: 0, stderr: '' });
    return finished.stdout;
  };
  const csv = async (name: string, text: string) => {
    const path = join(dataDir, name);
    await Bun.write(path, text);
    return path;
  };
  const historical = () => program.get('/rates/historical?symbols=WTIOIL-SPOT&date=2020-04-20', key);

  beforeAll(async () => {
    if (engine === 'postgres') settings.OPENPIT_DATABASE_URL = await newLedgerUrl(engine);
    program = await Program.start(settings);
    key = JSON.parse(await run('account', 'create', '--name', 'Acme', '--plan', 'unlimited', '--json')).key;
  }, 180_000);
  afterAll(() => program.end('SIGKILL'));

  test('an import is visible within a second; importing it again changes nothing', async () => {
    const file = await csv('wti.csv', 'Date,Price\n2020-04-20,-36.98\n2020-04-17,18.31\n2020-04-19,\n');
    expect((await historical()).status).toBe(404);
    expect(await run('import', file, '--symbol', 'WTIOIL-SPOT', '--source', 'eia')).toContain(
      '2 taken, 0 unchanged, 0 corrected, 1 without a value, 0 refused',
    );
    await eventually(async () => (await historical()).status === 200, SOON_MS);
    expect(await (await historical()).json()).toMatchObject({
      rates: { 'WTIOIL-SPOT': { close: -36.98 } },
      metadata: { 'WTIOIL-SPOT': { source: 'eia', date: '2020-04-20' } },
    });
    const again = await run('import', file, '--symbol', 'WTIOIL-SPOT', '--source', 'eia');
    expect(again).toContain('0 taken, 2 unchanged, 0 corrected');
  });

  test('a corrected file creates revisions, and the response and its ETag change within a second', async () => {
    const before = await historical();
    const file = await csv(
      'corrected.csv',
      'date;open;high;low;close\n2020-04-20;17.73;17.85;-40.32;-37.63\n',
    );
    expect(await run('import', file, '--symbol', 'wtioil-spot')).toContain(
      '0 taken, 0 unchanged, 1 corrected',
    );
    await eventually(
      async () => (await historical()).headers.get('etag') !== before.headers.get('etag'),
      SOON_MS,
    );
    expect(await (await historical()).json()).toMatchObject({
      rates: { 'WTIOIL-SPOT': { open: 17.73, high: 17.85, low: -40.32, close: -37.63 } },
    });
  });

  test('refused lines are reported by number and do not stop the rest', async () => {
    const file = await csv(
      'bad.csv',
      'date,close\n2021-02-30,1\n2021-03-01,x\n2021-03-02,5\n2021-03-02,6\n2999-01-01,1\n2021-03-03,7\n',
    );
    const out = await run('import', file, '--symbol', 'XAG');
    expect(out).toContain('1 taken, 0 unchanged, 0 corrected, 0 without a value, 5 refused');
    for (const line of [2, 3, 4, 5]) expect(out).toContain(`line ${line} refused`);
  });

  test('a changed plan takes effect within a second', async () => {
    await run(
      'plan',
      'set',
      'tiny',
      '--quota',
      '100',
      '--max-symbols',
      '1',
      '--delay-seconds',
      '0',
      '--burst',
      '1000',
    );
    const created = JSON.parse(await run('account', 'create', '--name', 'B', '--plan', 'tiny', '--json'));
    const two = () => program.get('/rates/latest?symbols=XAG,WTIOIL-SPOT', created.key);
    expect(await (await two()).json()).toMatchObject({ code: 'too_many_symbols' });
    await run('plan', 'set', 'tiny', '--max-symbols', '2');
    await eventually(async () => (await two()).status === 200, SOON_MS);
  });

  test('long history is enabled and disabled per plan', async () => {
    await run('plan', 'set', 'short', '--history', 'off', '--delay-seconds', '0', '--burst', '1000');
    expect(await run('plan', 'list')).toMatch(/short .* off\n/);
    const created = JSON.parse(await run('account', 'create', '--name', 'S', '--plan', 'short', '--json'));
    const range = 'startDate=2020-01-01&endDate=2020-12-31';
    const history = () => program.get(`/rates/history?symbols=WTIOIL-SPOT&${range}`, created.key);
    await eventually(async () => (await history()).status === 403, SOON_MS);
    await run('plan', 'set', 'short', '--history', 'on');
    await eventually(async () => (await history()).status === 200, SOON_MS);
  });

  test('an imported exchange rate is used for conversions within a second', async () => {
    const file = await csv('usd.csv', 'date,price\n2020-04-17,1.086\n2020-04-20,1.086\n');
    await run('import', file, '--symbol', 'eur/usd', '--source', 'ecb');
    const euros = () => program.get('/rates/historical?symbols=WTIOIL-SPOT&date=2020-04-17&quote=EUR', key);
    await eventually(async () => (await euros()).status === 200, SOON_MS);
    expect(await (await euros()).json()).toMatchObject({
      rates: { 'WTIOIL-SPOT': { close: 16.860037 } },
      metadata: { 'WTIOIL-SPOT': { quote: 'EUR', source: 'eia, ecb' } },
    });
    expect(await run('symbols', 'list')).not.toContain('EUR/USD');
  });

  test('a revoked key is refused within a second, and a new one works', async () => {
    const created = JSON.parse(
      await run('account', 'create', '--name', 'C', '--plan', 'unlimited', '--json'),
    );
    const second = JSON.parse(await run('key', 'create', '--account', created.account, '--json'));
    const usage = (one: string) => program.get('/usage', one);
    expect((await usage(created.key)).status).toBe(200);
    expect((await usage(second.key)).status).toBe(200);
    await run('key', 'revoke', created.keyId);
    await eventually(async () => (await usage(created.key)).status === 401, SOON_MS);
    expect((await usage(second.key)).status).toBe(200);
  });

  test('imported symbols are served within a second, with their aliases', async () => {
    const listed = JSON.parse(await run('symbols', 'list', '--json'));
    const gold = listed.find((one: { code: string }) => one.code === 'XAU');
    const file = await csv(
      'symbols.json',
      JSON.stringify([{ ...gold, code: 'XAU-TEST', name: 'Mine', aliases: ['MINE'] }]),
    );
    expect(await run('symbols', 'import', file)).toContain('1 added, 0 changed, 0 unchanged');
    const prices = await csv('mine.csv', 'date,price\n2024-01-02,7.5\n');
    await run('import', prices, '--symbol', 'MINE');
    const mine = () => program.get('/rates/historical?symbols=mine&date=2024-01-02', key);
    await eventually(async () => (await mine()).status === 200, SOON_MS);
    expect(await (await mine()).json()).toMatchObject({ rates: { MINE: { close: 7.5 } } });
  });
});

describe('an incorrect call', () => {
  test.each([
    [['serve', '--prot', '80'], '--prot'],
    [['import'], 'takes FILE'],
    [['import', 'x.csv'], '--symbol'],
    [['import', 'no-such-file.csv', '--symbol', 'XAU'], 'no-such-file.csv'],
    [['plan', 'set', 'x', '--quota', '-1'], '--quota must be a whole number'],
    [['plan', 'set', 'BAD NAME'], 'the name of a plan'],
    [['plan', 'set', 'x', '--history', 'maybe'], '--history must be on or off'],
    [['frobnicate'], 'frobnicate'],
    [['account', 'frobnicate'], 'account frobnicate'],
  ])('%p is reported in one line, with exit code 2', async (args, named) => {
    const { exitCode, stderr } = await openpit(args, { OPENPIT_DATA_DIR: newFolder() });
    expect(exitCode).toBe(2);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain(named);
  });

  test('every command has help', async () => {
    const overview = await openpit(['--help'], {});
    const names = [...overview.stdout.matchAll(/^ {2}([a-z]+(?: [a-z-]+){0,2})/gm)].map((match) =>
      match[1]!.trim(),
    );
    expect(names.length).toBeGreaterThan(8);
    for (const name of names) {
      const { exitCode, stdout } = await openpit([...name.split(' '), '--help'], {});
      expect([name, exitCode]).toEqual([name, 0]);
      expect(stdout).toContain('Usage: openpit');
    }
  }, 180_000); // one process per command: 100 ms each, and more on a busy machine
});
