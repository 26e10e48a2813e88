import { expect, test } from 'bun:test';
import { dirname, join } from 'node:path';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { printDay } from '../../../src/market/day.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { newFolder } from '../../support/ledger.ts';
import { openpit } from '../../support/program.ts';

const WRONG =
  'date,close\n2024-05-06,2313\n2024-05-07,231430\n2024-05-08,-5\n2024-05-09,2300\n2024-05-10,0\n';

/** Runs commands on a new ledger. */
async function workplace(content = WRONG) {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false' };
  const file = join(settings.OPENPIT_DATA_DIR, 'prices.csv');
  await Bun.write(file, content);
  const run = (...args: string[]) => openpit(args, settings);
  const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);
  return { file, run, json };
}

test('an import holds suspicious prices back, refuses zeros, and says so', async () => {
  const { file, run, json } = await workplace();
  const { exitCode, stdout } = await run('import', file, '--symbol', 'XAU');
  expect(exitCode).toBe(0);
  expect(stdout).toContain('2 taken, 0 unchanged, 0 corrected, 0 without a value, 1 refused, 2 held back');
  expect(stdout).toContain('line 3 held back: XAU 2024-05-07: 231430 is far from its neighbours');
  expect(stdout).toContain('openpit import undo 1');
  const held = await json('quarantine', 'list');
  expect(held).toMatchObject([
    { kind: 'bar', symbol: 'XAU', date: '2024-05-08', close: -5, origin: 'import 1' },
    { kind: 'bar', symbol: 'XAU', date: '2024-05-07', close: 231_430, state: 'held' },
  ]);
  const newest = (await run('quarantine', 'list', '--limit', '1')).stdout;
  expect(newest).toContain('There are older bars; see --limit.');
  expect(newest.match(/XAU/g)).toHaveLength(1);
  expect(await run('quarantine', 'drop', String(held[0].id))).toMatchObject({ exitCode: 0 });
  expect(await run('quarantine', 'release', String(held[1].id))).toMatchObject({ exitCode: 0 });
  expect(await json('quarantine', 'list')).toEqual([]);
  const decide = async (...args: string[]) => (await run('quarantine', ...args)).stderr;
  expect(await decide('drop', String(held[0].id))).toContain('has already been dropped; openpit quarantine');
  expect(await decide('release', String(held[1].id))).toContain(
    'has already been released; openpit quarantine',
  );
  expect(await decide('release', '999')).toContain(
    'there is no held price 999; openpit quarantine list --all',
  );
  expect(await json('import', file, '--symbol', 'XAU')).toMatchObject({ unchanged: 3, held: 1 });
}, 180_000);

test('as JSON, all held prices are listed', async () => {
  const { file, run, json } = await workplace();
  await run('import', file, '--symbol', 'XAU');
  const ledger = await Ledger.open(join(dirname(file), 'openpit.db'), systemClock);
  await ledger.engine.write(
    (tx) => tx`WITH RECURSIVE n (day) AS (SELECT 1 UNION ALL SELECT day + 1 FROM n WHERE day < 10000)
      INSERT INTO quarantine_bar (id, symbol_id, source_id, day, open, high, low, close, received, reason, origin, state)
      SELECT 100 + day, 1, 1, day, 1, 1, 1, 1, 0, 'odd', 'push', 'held' FROM n`,
  );
  await ledger.close();
  expect(await json('quarantine', 'list')).toHaveLength(10_002);
}, 180_000);

test('the undo of an import lists all days as JSON', async () => {
  const days = Array.from({ length: 10_001 }, (_, i) => `${printDay(i)},${2_300 + (i % 7)}`);
  const { file, run, json } = await workplace(`date,close\n${days.join('\n')}\n`);
  await run('import', file, '--symbol', 'XAU');
  const { withdrawn, days: listed } = await json('import', 'undo', '1');
  expect([withdrawn, listed.length]).toEqual([10_001, 10_001]);
}, 180_000);

test('prices that do not fit together are reported as unusual only if they are accepted', async () => {
  const bars = ['06,10,9,8,10', '07,10,9,8,0', '08,10,11,9,10', '08,10,9,8,10'];
  const { file, run } = await workplace(
    `date,open,high,low,close\n${bars.map((bar) => `2024-05-${bar}`).join('\n')}\n`,
  );
  const { stdout } = await run('import', file, '--symbol', 'XAU');
  expect(stdout).toContain('1 taken, 0 unchanged, 0 corrected, 0 without a value, 3 refused');
  expect(stdout.match(/line \d .*unusual.*/g)).toEqual([
    'line 2 accepted, but unusual: open 10, high 9, low 8, close 10 do not fit together',
  ]);
  expect((await run('import', 'undo', '1')).stdout).toContain('1 day withdrawn, 0 restored');
}, 180_000);

test('an unknown code, a formula and a rate that is not for 1 euro are refused, with the line of a file', async () => {
  const { file, run } = await workplace('code,date,close\nXAU,2024-05-06,2313\nGOLDD,2024-05-06,2313\n');
  await run('import', file, '--symbol', 'XAU', '--value-column', 'close'); // creates the ledger
  const refusal = async (...args: string[]) => {
    const { exitCode, stderr } = await run('import', file, '--value-column', 'close', ...args);
    expect(exitCode).toBe(2);
    return stderr;
  };
  expect(await refusal('--symbol-column', 'code')).toContain(
    'line 3: there is no symbol GOLDD. Did you mean',
  );
  expect(await refusal('--symbol', 'XAU', '--ohlc-columns', '3,3,3,3')).toContain('not both');
  expect(await refusal('--symbol', 'GOLDSILVER')).toContain('GOLDSILVER is a formula; import the prices of');
  expect(await refusal('--symbol', 'USD/JPY')).toContain('Exchange rates are imported for 1 euro');
  expect(await refusal('--symbol', 'EUR/EUR')).toContain(
    'there is no exchange rate EUR/EUR: it is always 1.',
  );
  expect(await refusal('--symbol', 'eur/usx')).toContain(
    'EUR/USX: it is computed from EUR/USD; import that.',
  );
  expect(await refusal('--symbol', 'EUR/UDS')).toContain(
    'EUR/UDS: "UDS" is neither a currency of ISO 4217 nor that of a symbol. Did you mean EUR/USD?',
  );
}, 180_000);

test('the days and the newest price of each symbol show how an ambiguous file was read', async () => {
  const { file, run, json } = await workplace(
    'code;date;close\nXAU;05/06/2024;1,234\nXAU;06/06/2024;1,235\nXAG;06/06/2024;\nPL;06/06/2024;0,5\n',
  );
  const read = async (...args: string[]) =>
    (await json('import', file, '--symbol-column', 'code', '--dry-run', ...args)).read;
  expect(await read('--date-order', 'dmy', '--decimal', 'comma')).toEqual([
    { symbol: 'XAU', firstDate: '2024-06-05', lastDate: '2024-06-06', close: 1.235 },
    { symbol: 'PL', firstDate: '2024-06-06', lastDate: '2024-06-06', close: 0.5 },
  ]);
  const options = ['--symbol-column', 'code', '--date-order', 'mdy', '--decimal', 'point'];
  const { stdout } = await run('import', file, ...options);
  expect(stdout.split('\n')[1]).toBe('  XAU  2024-05-06 to 2024-06-06  newest price 1235');
}, 180_000);

test('a dry run reports the same and writes nothing, not even a new currency', async () => {
  const { file, json } = await workplace();
  const dry = await json('import', file, '--symbol', 'XAU', '--dry-run');
  expect(dry).toMatchObject({ dryRun: true, run: null, taken: 2, held: 2, refused: 1 });
  expect(dry.heldLines).toMatchObject([{ line: 3 }, { line: 4 }]);
  expect(await json('import', file, '--symbol', 'EUR/SEK', '--dry-run')).toMatchObject({ taken: 2, held: 2 });
  expect(await json('import', 'list')).toEqual([]);
  expect(await json('quarantine', 'list')).toEqual([]);
  const { dryRun, run, ...same } = await json('import', file, '--symbol', 'XAU');
  expect({ dryRun, run }).toEqual({ dryRun: false, run: 1 });
  expect({ ...same, dryRun: true, run: null }).toEqual(dry);
}, 180_000);

test('--accept publishes suspicious prices, and an undo reverts the whole import', async () => {
  const { file, run, json } = await workplace('date,close\n2024-05-06,2313\n2024-05-07,2310\n');
  await run('import', file, '--symbol', 'XAU');
  await Bun.write(file, WRONG);
  expect(await json('import', file, '--symbol', 'XAU', '--accept')).toMatchObject({
    run: 2,
    taken: 2,
    corrected: 1,
    unchanged: 1,
    held: 0,
  });
  const undone = await json('import', 'undo', '2');
  expect(undone).toMatchObject({ run: 2, withdrawn: 2, restored: 1, kept: 0 });
  expect(undone.days).toMatchObject([
    { symbol: 'XAU', date: '2024-05-07', what: 'restored', was: 231_430 },
    { date: '2024-05-08', what: 'withdrawn', was: -5 },
    { date: '2024-05-09', what: 'withdrawn', was: 2300 },
  ]);
  expect(
    (await json('import', 'list')).map(({ undone }: { undone: string | null }) => undone !== null),
  ).toEqual([true, false]);
  expect((await run('import', 'undo', '2')).stderr).toContain('has already been undone');
  const missing = await run('import', 'undo', '9');
  expect([missing.exitCode, missing.stderr]).toEqual([1, expect.stringContaining('there is no import 9;')]);
  expect(await run('import', 'undo', 'nine')).toMatchObject({ exitCode: 2 });
}, 180_000);

test('bars withdraw lists what it withdrew, and fails when there was nothing', async () => {
  const { file, run, json } = await workplace('date,close\n2024-05-06,2313\n2024-05-07,2310\n');
  await run('import', file, '--symbol', 'XAU');
  const days = [
    '--symbol',
    'gold',
    '--day',
    '2024-05-07',
    '--to',
    '2024-05-10',
    '--reason',
    'a typing error',
  ];
  expect(await run('bars', 'withdraw', ...days.with(1, 'NO-SUCH'))).toMatchObject({ exitCode: 2 });
  expect(await json('bars', 'withdraw', ...days.with(1, 'XAU'))).toEqual({
    symbol: 'XAU',
    reason: 'a typing error',
    withdrawn: [{ date: '2024-05-07', open: 2310, high: 2310, low: 2310, close: 2310, source: 'import' }],
  });
  expect(await run('bars', 'withdraw', ...days.with(1, 'XAU'))).toMatchObject({ exitCode: 1 });
}, 180_000);

test('a new price level in daily files is held until three later days confirm it; a change of unit is never published', async () => {
  const rows = Array.from({ length: 12 }, (_, i) => `2024-04-${String(i + 1).padStart(2, '0')},${2_300 + i}`);
  const { file, run, json } = await workplace(`date,close\n${rows.join('\n')}\n`);
  const heldAfter = async (symbol: string, level: number) => {
    await Bun.write(file, `date,close\n${rows.join('\n')}\n`);
    await run('import', file, '--symbol', symbol);
    const counts: number[] = [];
    for (let day = 13; day <= 16; day++) {
      await Bun.write(file, `date,close\n2024-04-${day},${level + day}\n`);
      await run('import', file, '--symbol', symbol);
      const held: { symbol: string }[] = await json('quarantine', 'list');
      counts.push(held.filter((one) => one.symbol === symbol).length);
    }
    return counts;
  };
  expect(await heldAfter('XAU', 9_200)).toEqual([1, 2, 3, 0]);
  expect(await heldAfter('XAG', 230_000)).toEqual([1, 2, 3, 4]);
}, 180_000);
