import { expect, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { workbook, zipOf } from '../../support/feeds/feed-bodies.ts';
import { newFolder } from '../../support/ledger.ts';
import { eventually } from '../../support/program.ts';

const MAIN = join(import.meta.dir, '..', '..', '..', 'src', 'main.ts');
const CSV = 'Date,Price\n2024-01-02,70.5\n2024-01-03,71\n';

/** Runs a command in a new folder, without any setting. */
async function openpit(
  args: readonly string[],
  { cwd = newFolder(), input = '' as string | Uint8Array } = {},
) {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('OPENPIT_'));
  const child = Bun.spawn(['bun', MAIN, ...args], {
    cwd,
    env: Object.fromEntries(inherited) as Record<string, string>,
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exitCode, stdout, stderr, cwd };
}

const imported = (input: string | Uint8Array, ...args: string[]) =>
  openpit(['import', '-', '--symbol', 'WTIOIL-SPOT', ...args], { input });

test('an import of unchanged prices succeeds; one without usable rows fails', async () => {
  const first = await imported(CSV);
  expect([first.exitCode, first.stdout]).toEqual([0, expect.stringContaining('2 taken, 0 unchanged')]);
  expect(first.stdout).toEndWith('Import 1. To undo it: openpit import undo 1\n');
  const again = await openpit(['import', '-', '--symbol', 'WTIOIL-SPOT'], { cwd: first.cwd, input: CSV });
  expect([again.exitCode, again.stdout]).toEqual([0, expect.stringContaining('0 taken, 2 unchanged')]);
  expect(again.stdout).toEndWith('Import 2 changed nothing.\n');
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('an import of standard input that is ended by %s leaves no copy of it', async (signal, code) => {
  const [cwd, TMPDIR] = [newFolder(), newFolder()];
  const child = Bun.spawn(['bun', MAIN, 'import', '-', '--symbol', 'XAU'], {
    cwd,
    env: { ...process.env, TMPDIR },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  await eventually(async () => readdirSync(TMPDIR).length > 0);
  child.kill(signal);
  expect(await child.exited).toBe(code);
  expect(readdirSync(TMPDIR)).toEqual([]);
});

test.each([
  ['Date,Price\n2024-01-02,abc\n', 'nothing was imported: 0 rows without a value, 1 refused'],
  ['Date,Price\n2024-01-02,N/A\n', 'nothing was imported: 1 row without a value, 0 refused'],
  ['Date,Price\n', 'nothing was imported: the file has no rows with prices'],
])('%j exits with 1 and says so', async (input, message) => {
  const { exitCode, stderr } = await imported(input);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(message);
  const json = await imported(input, '--json');
  expect(json.exitCode).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({ taken: 0, unchanged: 0, corrected: 0 });
});

test.each([
  ['gzip', () => gzipSync(CSV)],
  ['a zip', () => zipOf({ 'wti.csv': CSV })],
  [
    'a workbook',
    () =>
      workbook('Prices', [
        ['Date', 'Price'],
        ['2024-01-02', 70.5],
        ['2024-01-03', 71],
      ]),
  ],
])('%s is read by its content, also from standard input', async (_name, make) => {
  const { stdout, exitCode } = await imported(make());
  expect(stdout).toContain('WTIOIL-SPOT: 2 taken');
  expect(exitCode).toBe(0);
});

test('prices before 1900 are imported, and the summary says which dates requests cover', async () => {
  const { stdout, cwd } = await imported('date,price\n1833-01,18.93\n1899,18.94\n1900-01-02,19\n');
  expect(stdout).toContain('3 taken');
  expect(stdout).toContain('2 rows before 1900: the prices are stored');
  const { stdout: listed } = await openpit(['symbols', 'list', '--json'], { cwd });
  expect(listed).toContain('WTIOIL-SPOT');
});

test('symbols are imported from standard input, and a mistake in them is named', async () => {
  const { cwd } = await imported(CSV);
  const { stdout: listed } = await openpit(['symbols', 'list', '--json'], { cwd });
  const again = await openpit(['symbols', 'import', '-'], { cwd, input: listed });
  expect(again.stdout).toMatch(/^0 added, 0 changed, \d+ unchanged\n$/);
  const input = listed.replace('"market":"', '"market":"X-');
  const { exitCode, stderr } = await openpit(['symbols', 'import', '-'], { cwd, input });
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('market must be one of NYMEX, COMEX')]);
  expect(stderr).toStartWith('openpit: standard input is not a list of symbols:\n  symbol 1 ("');
});

test('an unknown symbol in the last row leaves the ledger as it was', async () => {
  const input = 'date,code,price\n2024-01-02,XAU,1\n2024-01-02,NOPE,1\n';
  const { exitCode, stderr, cwd } = await openpit(['import', '-', '--symbol-column', 'code'], { input });
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('there is no symbol NOPE')]);
  const once = await openpit(['import', '-', '--symbol', 'XAU'], {
    cwd,
    input: 'date,price\n2024-01-02,1\n',
  });
  expect(once.stdout).toContain('1 taken');
});

test.each([
  [['plan', 'list']],
  [['account', 'create', '--name', 'A', '--plan', 'basic']],
  [['feed', 'enable', 'fred']],
  [['check']],
  [['restore', MAIN]],
])('%p without a ledger in ./data names the flag and creates nothing', async (args) => {
  const { exitCode, stderr, cwd } = await openpit(args);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('there is no ledger in ./data');
  expect(stderr).toContain('--data-dir');
  expect(existsSync(join(cwd, 'data'))).toBe(false);
});

test('a specified folder is created, and a ledger in ./data is found', async () => {
  const named = await openpit(['plan', 'set', 'gold', '--data-dir', 'elsewhere']);
  expect(named.exitCode).toBe(0);
  expect(existsSync(join(named.cwd, 'elsewhere', 'openpit.db'))).toBe(true);
  const { cwd } = await imported(CSV);
  expect((await openpit(['plan', 'list'], { cwd })).exitCode).toBe(0);
});

test.each(['data-dir', 'database-url'])('an empty --%s is refused: it stood for ./data', async (flag) => {
  const { exitCode, stderr, cwd } = await imported(CSV, `--${flag}`, '');
  expect([exitCode, stderr]).toEqual([2, `openpit: --${flag} must not be empty\n`]);
  expect(existsSync(join(cwd, 'data'))).toBe(false);
});

test('a source has the same limits as one of pushed prices', async () => {
  const accepted = await imported(CSV, '--source', 'My desk', '--json');
  expect([accepted.exitCode, JSON.parse(accepted.stdout)]).toMatchObject([0, { source: 'My desk' }]);
  for (const [source, why] of [
    ['x'.repeat(65), '--source must be a name of at most 64 characters'],
    ['operator', '--source must be another name: "operator" is reserved for corrections by hand'],
    ['simulated', '--source must be another name: "simulated" is reserved for simulated prices'],
  ] as const) {
    const refused = await imported(CSV, '--source', source);
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining(why)]);
  }
});
