import { expect, test } from 'bun:test';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canRunAsNobody, openpitAsNobody } from '../../support/as-nobody.ts';
import { newFolder } from '../../support/ledger.ts';
import { openpit } from '../../support/program.ts';

test.each([
  ['OPENPIT_PORT', 'http'],
  ['OPENPIT_DATABASE_URL', 'mysql://127.0.0.1/x'],
  ['OPENPIT_DEMO', 'maybe'],
  ['OPENPIT_LOG_LEVEL', 'loud'],
  ['OPENPIT_MOUNTS', 'v1'],
  ['OPENPIT_TRUSTED_PROXIES', '10.0.0.0/99'],
])('a bad %s stops the start with one line that names it', async (name, value) => {
  const { exitCode, stderr } = await openpit(['serve'], { OPENPIT_DATA_DIR: newFolder(), [name]: value });
  expect(exitCode).toBe(2);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toContain(name);
});

test.each([
  ['one process', {}],
  ['several', { OPENPIT_PROCESSES: '2' }],
])('a port that is taken stops the start of %s with a line that says so', async (_, more) => {
  const other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  try {
    const settings = {
      OPENPIT_DATA_DIR: newFolder(),
      OPENPIT_DEMO: 'false',
      OPENPIT_PORT: String(other.port),
    };
    const { exitCode, stderr } = await openpit(['serve'], { ...settings, ...more });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`another program listens on port ${other.port}`);
    expect(stderr).not.toContain('started again');
  } finally {
    other.stop();
  }
});

test.each([
  [['plan', 'lst'], 'openpit plan --help'],
  [['plan', 'set', 'gold', '--qota', '5'], 'openpit plan set --help'],
  [['feed', 'enable'], 'name a feed, or use --all'],
  [['feed', 'disable'], 'takes KEY (received nothing)'],
  [['import', 'x.csv', '--symbol', 'XAU', '--symbol-column', 'code'], 'not both'],
  [['backup', '/there/is/no/such/folder/x.db'], 'there is no folder'],
])('%p says what would be right', async (args, hint) => {
  const { exitCode, stderr } = await openpit(args, { OPENPIT_DATA_DIR: newFolder() });
  expect(exitCode).toBe(2);
  expect(stderr).toContain(hint);
});

test('a data folder that is a file stops the start with a line that says so', async () => {
  const file = join(newFolder(), 'data');
  writeFileSync(file, '');
  const { exitCode, stderr } = await openpit(['serve'], { OPENPIT_DATA_DIR: file });
  expect(exitCode).toBe(1);
  expect(stderr).toBe(`openpit: ${file} is not a folder\n`);
});

test('an access log that cannot be written stops the start with a line that says why', async () => {
  const folder = newFolder();
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const start = (path: string) =>
    openpit(['serve', '--access-log', path], { OPENPIT_DATA_DIR: join(folder, 'data'), OPENPIT_PORT: '0' });
  for (const [path, why] of [
    [join(folder, 'none', 'access.log'), 'there is no such folder'],
    [join(file, 'access.log'), 'there is a file where its folder should be'],
    [folder, 'it is a folder'],
  ] as const) {
    const { exitCode, stderr } = await start(path);
    expect(stderr).toBe(`openpit: OPENPIT_ACCESS_LOG (${path}) cannot be used: ${why}.\n`);
    expect(exitCode).toBe(2);
  }
  expect(existsSync(join(folder, 'data'))).toBe(false);
});

test.skipIf(!canRunAsNobody)('a log that this user may write needs no permission on its folder', async () => {
  const folder = newFolder();
  chmodSync(folder, 0o755);
  const log = join(folder, 'access.log');
  const settings = { OPENPIT_ACCESS_LOG: log, OPENPIT_DATA_DIR: join(folder, 'data') };
  const findings = async () => (await openpitAsNobody(['doctor'], settings)).stdout;
  expect(await findings()).toContain('this user has no permission to write it');
  writeFileSync(log, '');
  chmodSync(log, 0o666);
  expect(await findings()).not.toContain('access_log');
});

test.skipIf(!canRunAsNobody)('missing permissions are named with the file and what to do', async () => {
  const folder = newFolder();
  const settings = { OPENPIT_DATA_DIR: folder };
  await openpit(['account', 'create', '--name', 'A', '--plan', 'basic'], settings);
  const closed = await openpitAsNobody(['plan', 'list'], settings);
  expect(closed.stderr).toContain(`this user may not access ${join(folder, 'openpit.db')}`);
  chmodSync(folder, 0o755);
  chmodSync(join(folder, 'openpit.db'), 0o644);
  const readable = await openpitAsNobody(['plan', 'list'], settings);
  expect(readable.stderr).toContain('this user cannot write to the ledger');
  expect(readable.stderr).toContain('openpit doctor');
});

test
  .skipIf(!canRunAsNobody)
  .each([
    [['backup', '/tmp/openpit-backup-of-nobody.db']],
    [['check']],
    [['latest', 'XAU']],
    [['migrate', '--dry-run']],
  ])('%j does not call a ledger missing that this user may not look for', async (args) => {
  const settings = { OPENPIT_DATA_DIR: newFolder() };
  await openpit(['account', 'create', '--name', 'A', '--plan', 'basic'], settings);
  const { exitCode, stdout, stderr } = await openpitAsNobody(args, settings);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toContain(`this user may not access ${join(settings.OPENPIT_DATA_DIR, 'openpit.db')}`);
});

test('a PostgreSQL that cannot be reached is named, without the password', async () => {
  const settings = { OPENPIT_DATABASE_URL: 'postgres://one:secret@127.0.0.1:1/rates' };
  const { exitCode, stderr } = await openpit(['plan', 'list'], settings);
  expect(exitCode).toBe(1);
  expect(stderr).toBe(
    'openpit: the ledger cannot be reached: Failed to connect (127.0.0.1:1) (check OPENPIT_DATABASE_URL or OPENPIT_DATA_DIR)\n',
  );
});

test('a damaged ledger is called damaged', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder() };
  writeFileSync(join(settings.OPENPIT_DATA_DIR, 'openpit.db'), 'This is not a SQLite file. '.repeat(400));
  const { exitCode, stderr } = await openpit(['plan', 'list'], settings);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('the ledger is damaged');
  expect(stderr).not.toContain('cannot be reached');
});

/** What reads a ledger, or changes what must be in it. */
const NEED_A_LEDGER = [
  'check',
  'move --to /tmp/openpit-none/new.db',
  'account list',
  'account show acc_1',
  'account suspend acc_1',
  'account resume acc_1',
  'account set-plan acc_1 --plan pro',
  'account delete acc_1 --yes',
  'plan list',
  'plan delete pro',
  'key create --account acc_1',
  'key list --account acc_1',
  'key rotate key_1',
  'key revoke key_1',
  'symbols list',
  'symbols formulas',
  'symbols undefine CRACK321',
  'symbols delete XAU --yes',
  'bars withdraw --symbol XAU --day 2024-05-08 --reason wrong',
  'quarantine list',
  'quarantine release 1',
  'import list',
  'import undo 1',
  'feed list',
  'feed disable ecb',
  'feed history',
  'feed doctor ecb',
  'feed set ecb',
  'feed set ecb --reset',
  'webhook secret',
  'audit',
];

test.each(NEED_A_LEDGER)('%s does not create a ledger in a mistyped folder', async (command) => {
  const folder = join(newFolder(), 'mistyped');
  const path = join(folder, 'openpit.db');
  const { exitCode, stderr } = await openpit(command.split(' '), {
    OPENPIT_DATABASE_URL: `sqlite://${path}`,
  });
  expect([exitCode, stderr]).toEqual([2, `openpit: there is no ledger at ${path}\n`]);
  expect(existsSync(folder)).toBe(false);
});

test.each([
  'account create --name A --plan pro',
  'plan set gold --quota 10',
  'symbols define PAIR --as {XAU}/{XAG} --name Pair',
  'feed enable ecb',
  'feed set ecb --url https://mirror.example/eurofxref-hist.zip',
])('%s creates a ledger in the folder that is named', async (command) => {
  const folder = join(newFolder(), 'new');
  expect(await openpit(command.split(' '), { OPENPIT_DATA_DIR: folder })).toMatchObject({ exitCode: 0 });
  expect(existsSync(join(folder, 'openpit.db'))).toBe(true);
});

test('feed set with an address that cannot be used creates no ledger', async () => {
  const folder = join(newFolder(), 'new');
  const { exitCode } = await openpit(['feed', 'set', 'ecb', '--url', 'ftp://mirror.example'], {
    OPENPIT_DATA_DIR: folder,
  });
  expect([exitCode, existsSync(folder)]).toEqual([2, false]);
});

test('an empty file is no ledger whose counts add up', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder() };
  const path = join(settings.OPENPIT_DATA_DIR, 'openpit.db');
  writeFileSync(path, '');
  const { exitCode, stderr } = await openpit(['check'], settings);
  expect([exitCode, stderr.trim()]).toEqual([2, `openpit: there is no ledger at ${path}`]);
});
