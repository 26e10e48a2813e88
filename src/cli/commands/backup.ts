import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SQL } from 'bun';
import { isInUse } from '../../gate/spool/in-use.ts';
import { openEngine } from '../../ledger/engine/engine.ts';
import { createPrivate, restrict } from '../../ledger/engine/sqlite/private-file.ts';
import { systemClock } from '../../runtime/clock.ts';
import { type Command, UsageError } from '../framework/command.ts';
import { ledgerPath } from '../framework/ledger-path.ts';

const POSTGRES_HINT = 'the ledger is on PostgreSQL: use pg_dump and pg_restore (docs/operating.md)';

export const backupCommand: Command = {
  name: 'backup',
  operands: ['FILE'],
  summary: 'Copy the SQLite ledger to a file, consistent, while the service runs',
  flags: {},
  async run({ config, operands }) {
    const file = operands[0]!;
    const path = ledgerPath(config);
    if (path === undefined) throw new UsageError(POSTGRES_HINT);
    if (!existsSync(dirname(file))) throw new UsageError(`there is no folder ${dirname(file)}`);
    if (!existsSync(path)) throw new UsageError(`there is no ledger at ${path}`);
    if (existsSync(file)) throw new UsageError(`${file} is there already; choose another name`);
    // Under another name until it is whole, so that a backup that was cut short is never taken for one.
    const partial = `${file}.partial`;
    rmSync(partial, { force: true });
    createPrivate(partial); // VACUUM INTO takes an empty file
    await copyLedger(path, partial);
    await verify(partial);
    renameSync(partial, file);
    console.log(`Backed up to ${file} (${Math.ceil(Bun.file(file).size / 1024)} KB).`);
  },
};

export const restoreCommand: Command = {
  name: 'restore',
  operands: ['FILE'],
  summary: 'Put a backup in the place of the SQLite ledger; the service must be stopped',
  flags: {
    force: { help: 'also over a ledger that is there; it is kept beside, with the ending .before-restore' },
  },
  async run({ config, operands, isSet }) {
    const file = operands[0]!;
    const path = ledgerPath(config);
    if (path === undefined) throw new UsageError(POSTGRES_HINT);
    if (!existsSync(file)) throw new UsageError(`there is no file ${file}`);
    if (isInUse(join(config.dataDir, 'spool')))
      throw new Error('the service is running on this ledger; stop it first');
    if (existsSync(path) && !isSet('force')) {
      throw new UsageError(`there is a ledger at ${path}; --force keeps it beside as ${path}.before-restore`);
    }
    await verify(file);
    const partial = join(dirname(path), 'openpit.db.partial');
    createPrivate(partial);
    await Bun.write(partial, Bun.file(file));
    restrict(partial); // a copy may have the mode of its source
    await giveNewEpoch(partial);
    if (existsSync(path)) keepBeside(path);
    renameSync(partial, path);
    console.log(`Restored ${file} to ${path}. Replicas and caches load it afresh.`);
  },
};

/** With its log: after a kill, the last writes are in there and not in the file. */
function keepBeside(path: string): void {
  for (const part of ['', '-wal', '-shm']) {
    rmSync(`${path}.before-restore${part}`, { force: true });
    restrict(path + part);
    if (existsSync(path + part)) renameSync(path + part, `${path}.before-restore${part}`);
  }
}

/** Copies a ledger of any schema version: a backup is due before a migration. */
async function copyLedger(path: string, copy: string): Promise<void> {
  const engine = await openEngine(path, systemClock, 'working');
  try {
    await engine.read.unsafe('VACUUM INTO ?', [copy]);
  } finally {
    await engine.close();
  }
}

async function verify(file: string): Promise<void> {
  const handle = new SQL({ adapter: 'sqlite', filename: file, readonly: true });
  try {
    const [row] = await handle.unsafe('PRAGMA integrity_check');
    if (row.integrity_check !== 'ok') throw new Error(`${file} is damaged: ${row.integrity_check}`);
    await handle`SELECT value FROM meta WHERE name = 'epoch'`;
  } catch (error) {
    throw new Error(`${file} is not a whole ledger: ${error instanceof Error ? error.message : error}`);
  } finally {
    await handle.close();
  }
}

/** Another epoch tells everyone that the ledger's history is another: what was cached is not this. */
async function giveNewEpoch(file: string): Promise<void> {
  const handle = new SQL({ adapter: 'sqlite', filename: file });
  await handle`UPDATE meta SET value = ${crypto.randomUUID()} WHERE name = 'epoch'`;
  await handle.unsafe('PRAGMA wal_checkpoint(TRUNCATE)');
  await handle.close();
}
