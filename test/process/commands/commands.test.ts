import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { newFolder } from '../../support/ledger.ts';
import { openpit, Program } from '../../support/program.ts';

/**
 * Every command, with its help and one real use, in the order in which an operator could call them. `npm test` runs this
 * against the single-file build, too.
 */
setDefaultTimeout(240_000);

const dataDir = newFolder();
const files = newFolder();
const settings = { OPENPIT_DATA_DIR: dataDir };
/** What earlier commands returned, for later ones. */
const made = { account: '', key: '', held: [] as number[] };
const provider = Bun.serve({ port: 0, fetch: () => new Response('gone', { status: 404 }) });
afterAll(() => provider.stop(true));

beforeAll(async () => {
  const isOutlier = (i: number) => i === 40 || i === 80;
  const rows = Array.from({ length: 120 }, (_, i) => {
    const date = new Date(Date.UTC(2024, 0, 1) + i * 86_400_000).toISOString().slice(0, 10);
    return `${date},${(2_050 + (i % 7)) * (isOutlier(i) ? 100 : 1)}`;
  });
  await Bun.write(join(files, 'gold.csv'), `date,close\n${rows.join('\n')}\n`);
});

interface Use {
  command: string;
  /** The arguments after the command's name. */
  args?: () => readonly string[];
  exitCode?: number;
  /** A part of what it prints. */
  prints: string;
  /** What a command that prints data says on standard error; by default nothing. */
  reports?: string;
  after?: (stdout: string) => void | Promise<void>;
}

const USES: readonly Use[] = [
  { command: 'migrate', prints: 'Created the ledger' },
  {
    command: 'symbols list',
    args: () => ['--json'],
    prints: 'XAU',
    after: async (stdout) => void (await Bun.write(join(files, 'symbols.json'), stdout)),
  },
  { command: 'symbols import', args: () => [join(files, 'symbols.json')], prints: '' },
  { command: 'doctor', prints: 'no page of the SQLite file is damaged' },
  {
    command: 'compare', // compare.test.ts has it with two services
    args: () => ['--base', 'http://127.0.0.1:1', '--key-env', 'NOT_SET', '--symbols', 'XAU'],
    exitCode: 2,
    prints: '',
  },
  { command: 'completion', args: () => ['bash'], prints: 'complete -o default' },
  { command: 'mcp', prints: '' }, // standard input is empty; clients/mcp.test.ts asks questions
  { command: 'plan list', prints: 'unlimited' },
  { command: 'plan set', args: () => ['club', '--quota', '7'], prints: 'club' },
  {
    command: 'account create',
    args: () => ['--name', 'Acme', '--plan', 'basic', '--json'],
    prints: 'acc_',
    after: (stdout) => {
      made.account = JSON.parse(stdout).account;
    },
  },
  { command: 'account list', prints: 'Acme' },
  { command: 'account show', args: () => [made.account], prints: 'Acme' },
  { command: 'account suspend', args: () => [made.account], prints: '' },
  { command: 'account resume', args: () => [made.account], prints: '' },
  { command: 'account set-plan', args: () => [made.account, '--plan', 'pro'], prints: 'pro' },
  { command: 'plan delete', args: () => ['club'], prints: 'club' },
  {
    command: 'key create',
    args: () => ['--account', made.account, '--json'],
    prints: 'key',
    after: (stdout) => {
      made.key = JSON.parse(stdout).key;
    },
  },
  { command: 'key list', args: () => ['--account', made.account], prints: 'key_' },
  { command: 'key rotate', args: () => [made.key], prints: '' },
  { command: 'key revoke', args: () => [made.key], prints: '' },
  { command: 'import', args: () => [join(files, 'gold.csv'), '--symbol', 'XAU'], prints: '118 taken' },
  { command: 'import list', prints: 'gold.csv' },
  {
    command: 'quarantine list',
    args: () => ['--json'],
    prints: 'XAU',
    after: (stdout) => {
      made.held = heldIds(stdout);
    },
  },
  { command: 'feed quarantine list', prints: 'XAU' },
  { command: 'quarantine release', args: () => [String(made.held[0])], prints: '' },
  { command: 'quarantine drop', args: () => [String(made.held[1])], prints: '' },
  { command: 'feed quarantine release', args: () => ['999'], exitCode: 1, prints: '' },
  { command: 'feed quarantine drop', args: () => ['999'], exitCode: 1, prints: '' },
  {
    command: 'bars withdraw',
    args: () => ['--symbol', 'XAU', '--day', '2024-01-03', '--reason', 'a typing error'],
    prints: '2024-01-03',
  },
  { command: 'latest', args: () => ['XAU'], prints: 'USD/T.oz' }, // clients/prices.test.ts has it with a server
  { command: 'history', args: () => ['XAU', '--from', '2024-01-01'], prints: 'average' },
  { command: 'watch', args: () => ['GOLDD'], exitCode: 2, prints: '' }, // it runs until it is stopped: clients/watch.test.ts
  {
    command: 'export',
    args: () => ['--symbols', 'XAU'],
    prints: 'XAU',
    reports: expect.stringContaining('rows'),
  },
  {
    command: 'symbols define',
    args: () => ['PAIR', '--as', '{XAU}/{XAG}', '--name', 'A pair'],
    prints: 'PAIR',
  },
  { command: 'symbols formulas', prints: 'PAIR' },
  { command: 'symbols undefine', args: () => ['PAIR'], prints: 'PAIR' },
  { command: 'import undo', args: () => ['1'], prints: '' },
  { command: 'feed list', prints: 'ecb' },
  { command: 'feed enable', args: () => ['ecb'], prints: '' },
  { command: 'feed disable', args: () => ['ecb'], prints: '' },
  {
    command: 'feed run',
    args: () => ['ecb', '--base-url', provider.url.origin],
    exitCode: 1, // the provider has nothing
    prints: '',
  },
  { command: 'feed history', prints: 'ecb' },
  { command: 'feed set', args: () => ['ecb'], prints: 'eurofxref-hist.zip' },
  { command: 'feed doctor', args: () => ['nothing'], exitCode: 2, prints: '' },
  { command: 'sample load', args: () => ['--list'], prints: 'European Central Bank' },
  { command: 'sample export', args: () => ['WTIOIL-SPOT'], prints: 'date,' },
  { command: 'webhook secret', prints: 'whsec_' },
  { command: 'audit', prints: 'club' },
  { command: 'check', prints: 'All counts add up.' },
  { command: 'backup', args: () => [join(files, 'backup.db')], prints: 'Backed up' },
  { command: 'restore', args: () => [join(files, 'backup.db'), '--force'], prints: 'Restored' },
  { command: 'move', args: () => ['--to', join(files, 'moved.db')], prints: '' },
  { command: 'account delete', args: () => [made.account, '--yes'], prints: 'Deleted' },
  { command: 'symbols delete', args: () => ['XAU', '--yes'], prints: 'Deleted XAU' },
];

test('every command that the overview lists has a row here', async () => {
  const { stdout, exitCode } = await openpit(['--help'], {});
  expect(exitCode).toBe(0);
  const listed = [...stdout.matchAll(/^ {2}([a-z][a-z -]*[a-z])(?: \[?[A-Z.]+\]?)? {2,}/gm)].map(
    ([, name]) => name!,
  );
  expect(listed.length).toBeGreaterThan(30);
  expect(['serve', ...USES.map(({ command }) => command)].sort()).toEqual(listed.sort());
});

test('every command has help', async () => {
  for (const command of ['serve', ...USES.map((use) => use.command)]) {
    const { stdout, exitCode } = await openpit([...command.split(' '), '--help'], {});
    expect({ command, exitCode }).toEqual({ command, exitCode: 0 });
    expect(stdout).toContain(`Usage: openpit ${command}`);
  }
});

test('every command does its work on a real ledger', async () => {
  for (const { command, args, exitCode = 0, prints, reports, after } of USES) {
    const done = await openpit([...command.split(' '), ...(args?.() ?? [])], settings);
    expect({ command, ...done }).toEqual({
      command,
      exitCode,
      stdout: expect.stringContaining(prints),
      stderr: exitCode === 0 ? (reports ?? '') : expect.stringContaining('openpit: '),
    });
    await after?.(done.stdout);
  }
});

test('the service starts on the ledger that the commands leave', async () => {
  const program = await Program.start({ ...settings, OPENPIT_DEMO: 'false' });
  expect((await program.get('/health', '')).status).toBe(200);
  expect(await program.end()).toBe(0);
});

function heldIds(stdout: string): number[] {
  const ids: number[] = JSON.parse(stdout).map(({ id }: { id: number }) => id);
  expect(ids).toHaveLength(2);
  return ids;
}
