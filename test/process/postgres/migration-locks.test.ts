import { afterEach, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { SCHEMA_VERSION } from '../../../src/ledger/schema/migrations.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { loadFixture } from '../../schemas/fixture.ts';
import { newFolder } from '../../support/ledger.ts';
import { eventually, spawnOpenpit } from '../../support/program.ts';

const OLD = 9;

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** A ledger of an older schema, and a transaction that has read a table which the migration changes. */
async function heldLedger() {
  const url = await loadFixture(OLD, 'postgres');
  const [blocker, reader] = [new SQL({ url, max: 1 }), new SQL({ url, max: 1 })];
  endings.push(
    () => blocker.close({ timeout: 0 }),
    () => reader.close({ timeout: 0 }),
  );
  await blocker.unsafe('BEGIN');
  await blocker.unsafe('SELECT count(*) FROM bar_change');
  await reader.unsafe(`SET statement_timeout = '5s'`);
  return {
    url,
    read: () => reader.unsafe('SELECT count(*) FROM bar_change'),
    release: () => blocker.unsafe('COMMIT'),
  };
}

function start(args: readonly string[], url: string) {
  const child = spawnOpenpit(args, {
    OPENPIT_DATABASE_URL: url,
    OPENPIT_DATA_DIR: newFolder(),
    OPENPIT_DEMO: 'false',
    OPENPIT_PORT: '0',
  });
  endings.push(() => child.kill('SIGKILL'));
  const output = { text: '' };
  const append = (bytes: Uint8Array) => {
    output.text += new TextDecoder().decode(bytes);
  };
  for (const stream of [child.stdout, child.stderr]) {
    void stream.pipeTo(new WritableStream({ write: append }));
  }
  return output;
}

test.each([
  ['openpit migrate', ['migrate'], `Migrated the ledger from schema ${OLD} to ${SCHEMA_VERSION}`],
  ['openpit serve', ['serve'], 'listens on'],
])(
  '%s that cannot get a lock says so, lets readers pass, and migrates when the lock is free',
  async (_, args, done) => {
    const { url, read, release } = await heldLedger();
    const output = start(args, url);
    for (let attempt = 1; attempt <= 2; attempt++) {
      await eventually(async () => output.text.split('cannot get a lock').length > attempt);
      for (let i = 0; i < 3; i++) expect(await read()).toHaveLength(1);
    }
    expect((await Ledger.schema(url, systemClock)).version).toBe(OLD);
    await release();
    await eventually(async () => output.text.includes(done));
    expect((await Ledger.schema(url, systemClock)).version).toBe(SCHEMA_VERSION);
  },
  120_000,
);

test('a migration that cannot get a lock gives up in the end, names the reason, and changes nothing', async () => {
  const { url } = await heldLedger();
  const waits: string[] = [];
  const migrating = Ledger.migrate(url, systemClock, {
    onLockWait: (message) => waits.push(message),
    lockAttempts: 2,
    lockPauseMs: 1,
  });
  await expect(migrating).rejects.toThrow('another transaction holds a lock');
  expect(waits).toHaveLength(1);
  expect((await Ledger.schema(url, systemClock)).version).toBe(OLD);
}, 180_000);
