import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { SCHEMA_VERSION } from '../../../src/ledger/schema/migrations.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { loadFixture } from '../../schemas/fixture.ts';
import { newFolder, onEachEngine } from '../../support/ledger.ts';
import { openpit } from '../../support/program.ts';

const OLD = 9;

onEachEngine('openpit migrate', (engine) => {
  const settings = (url: string) => ({
    OPENPIT_DATABASE_URL: engine === 'sqlite' ? `sqlite://${url}` : url,
    OPENPIT_DATA_DIR: newFolder(),
  });
  const versionOf = async (url: string) => (await Ledger.schema(url, systemClock)).version;

  test('a command of a newer version refuses an older ledger, names openpit migrate, and changes nothing', async () => {
    const url = await loadFixture(OLD, engine);
    for (const command of [
      ['plan', 'list'],
      ['check'],
      ['account', 'create', '--name', 'New', '--plan', 'pro'],
    ]) {
      const { exitCode, stderr } = await openpit(command, settings(url));
      expect(exitCode, command.join(' ')).toBe(1);
      expect(stderr).toContain(`the ledger has schema ${OLD}`);
      expect(stderr).toContain('openpit migrate');
    }
    expect(await versionOf(url)).toBe(OLD);
  });

  test('a dry run lists the pending migrations with their statements, and changes nothing', async () => {
    const url = await loadFixture(OLD, engine);
    const { exitCode, stdout } = await openpit(['migrate', '--dry-run'], settings(url));
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`Schema ${OLD} would change:`);
    expect(stdout).toContain('10  when changes of bars were recorded');
    expect(stdout).toContain('ALTER TABLE bar_change ADD COLUMN recorded_at');
    expect(stdout).not.toContain('{clustered}');
    expect(await versionOf(url)).toBe(OLD);
  });

  test('a migration reports what it did, and commands work afterwards', async () => {
    const url = await loadFixture(OLD, engine);
    const migrated = await openpit(['migrate'], settings(url));
    expect(migrated.stdout).toContain(`Migrated the ledger from schema ${OLD} to ${SCHEMA_VERSION}:`);
    expect(migrated.exitCode).toBe(0);
    expect((await openpit(['plan', 'list'], settings(url))).stdout).toContain('club');
    const again = await openpit(['migrate'], settings(url));
    expect(again).toMatchObject({
      exitCode: 0,
      stdout: `The ledger is up to date (schema ${SCHEMA_VERSION}).\n`,
    });
  });
});

test('a dry run without a ledger says so, and creates no file', async () => {
  const folder = newFolder();
  const { exitCode, stdout } = await openpit(['migrate', '--dry-run'], { OPENPIT_DATA_DIR: folder });
  expect(exitCode).toBe(0);
  expect(stdout).toStartWith('There is no ledger yet.');
  expect(existsSync(join(folder, 'openpit.db'))).toBe(false);
});

test('a ledger of an older schema can be backed up before it is migrated', async () => {
  const url = await loadFixture(OLD, 'sqlite');
  const copy = join(newFolder(), 'copy.db');
  expect((await openpit(['backup', copy], { OPENPIT_DATABASE_URL: `sqlite://${url}` })).exitCode).toBe(0);
  expect((await Ledger.schema(copy, systemClock)).version).toBe(OLD);
});
