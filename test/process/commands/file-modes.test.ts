import { afterEach, beforeEach, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { lockSlot } from '../../../src/gate/spool/slot-lock.ts';
import { openSqlite } from '../../../src/ledger/engine/sqlite/sqlite.ts';
import { newFolder } from '../../support/ledger.ts';
import { openpit, Program } from '../../support/program.ts';

let program: Program | undefined;
let umask = 0;

/** Child processes inherit it: without the program's own umask, everybody could read every file. */
beforeEach(() => {
  umask = process.umask(0);
});

afterEach(async () => {
  process.umask(umask);
  await program?.end('SIGKILL');
  program = undefined;
});

/** The mode of everything in a folder, by name. */
function modesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return Object.fromEntries(
    names.map((name) => {
      const stat = statSync(join(folder, name));
      return [name, `${stat.isDirectory() ? 'folder' : 'file'} ${(stat.mode & 0o777).toString(8)}`];
    }),
  );
}

function expectPrivate(folder: string, includes: readonly string[]): void {
  const modes = modesIn(folder);
  expect(Object.keys(modes)).toEqual(expect.arrayContaining([...includes]));
  const open = Object.entries(modes).filter(([, mode]) => !['file 600', 'folder 700'].includes(mode));
  expect(open).toEqual([]);
}

/** A folder that somebody else has created, accessible to everybody. */
function openFolder(): string {
  const folder = join(newFolder(), 'shared');
  mkdirSync(folder, { mode: 0o777 });
  return folder;
}

test('only the owner can read what the program writes, even in a folder that is open to everybody', async () => {
  const settings = { OPENPIT_DATA_DIR: openFolder(), OPENPIT_DEMO: 'false' };
  const backups = openFolder();
  const backup = join(backups, 'backup.db');
  const input = join(newFolder(), 'prices.csv');
  await Bun.write(input, 'date,close\n2024-05-14,2358\n');
  expect(await openpit(['import', input, '--symbol', 'XAU'], settings)).toMatchObject({ exitCode: 0 });
  expectPrivate(settings.OPENPIT_DATA_DIR, ['openpit.db']);

  const created = await openpit(['account', 'create', '--name', 'A', '--plan', 'pro', '--json'], settings);
  program = await Program.start(settings);
  expect((await program.get('/symbols', JSON.parse(created.stdout).key)).status).toBe(200);
  const running = ['openpit.db', 'openpit.db-wal', 'openpit.db-shm', 'spool', 'spool/0.lock'];
  expectPrivate(settings.OPENPIT_DATA_DIR, running);
  expect(await openpit(['backup', backup], settings)).toMatchObject({ exitCode: 0 });
  expectPrivate(backups, ['backup.db']);

  await program.end();
  chmodSync(backup, 0o666);
  expect(await openpit(['restore', backup, '--force'], settings)).toMatchObject({ exitCode: 0 });
  expectPrivate(settings.OPENPIT_DATA_DIR, ['openpit.db', 'openpit.db.before-restore']);
}, 180_000);

test('opening a ledger that others can read removes their permissions', async () => {
  const folder = openFolder();
  const path = join(folder, 'openpit.db');
  const first = await openSqlite(path, { now: () => 0 });
  await first.write((tx) => tx`CREATE TABLE one (id INTEGER)`);
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o644);
  const second = await openSqlite(path, { now: () => 0 });
  expectPrivate(folder, ['openpit.db', 'openpit.db-wal', 'openpit.db-shm']);
  await second.close();
  await first.close();
});

test('only the owner can read the lock of a slot, and a second attempt to take it does not release it', async () => {
  const folder = openFolder();
  const path = join(folder, '0.lock');
  const lock = lockSlot(path)!;
  expectPrivate(folder, ['0.lock']);
  expect(lockSlot(path)).toBeUndefined();
  const script = `import { lockSlot } from ${JSON.stringify(join(import.meta.dir, '../../../src/gate/spool/slot-lock.ts'))};
    process.stdout.write(lockSlot(${JSON.stringify(path)}) ? 'free' : 'held');`;
  const inAnotherProcess = () =>
    Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' }).stdout.text();
  expect(await inAnotherProcess()).toBe('held');
  lock.release();
  expect(await inAnotherProcess()).toBe('free');
});
