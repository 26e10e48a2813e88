import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { SQL } from 'bun';
import { isInUse } from '../../gate/spool/in-use.ts';
import { copyBackup, removeLedger, writeBackup } from '../../ledger/engine/sqlite/backup.ts';
import { isOpenElsewhere } from '../../ledger/engine/sqlite/open-elsewhere.ts';
import { restrict } from '../../ledger/engine/sqlite/private-file.ts';
import { fileExists } from '../../ledger/inspection/file-exists.ts';
import { ledgerPath } from '../../ledger/open-engine.ts';
import { systemClock } from '../../runtime/clock.ts';
import { type Command, UsageError } from '../framework/command.ts';
import { requireFile, requireFolderOf } from '../framework/files.ts';
import { printLine } from '../framework/print-line.ts';

const POSTGRES_HINT = 'the ledger is on PostgreSQL: use pg_dump and pg_restore (see docs/operating.md)';

export const backupCommand: Command = {
  name: 'backup',
  operands: ['FILE'],
  summary: 'Write a consistent copy of the SQLite ledger to a file, while the service runs',
  examples: ['backup /backups/openpit-2026-11-16.db'],
  flags: {},
  async run({ config, operands }) {
    const file = operands[0]!;
    const path = ledgerPath(config);
    if (path === undefined) throw new UsageError(POSTGRES_HINT);
    requireFolderOf(file);
    if (!fileExists(path)) throw new UsageError(`there is no ledger at ${path}`);
    if (existsSync(file)) throw new UsageError(`${file} already exists; choose another name`);
    const bytes = await writeBackup(path, file, systemClock);
    printLine(`Backed up to ${file} (${Math.ceil(bytes / 1024)} KB).`);
  },
};

export const restoreCommand: Command = {
  name: 'restore',
  operands: ['FILE'],
  summary: 'Replace the SQLite ledger by a backup; the service must be stopped',
  flags: {
    force: { help: 'Replace an existing ledger; it is kept with the suffix .before-restore' },
  },
  async run({ config, operands, isSet }) {
    const file = operands[0]!;
    const path = ledgerPath(config);
    if (path === undefined) throw new UsageError(POSTGRES_HINT);
    requireFile(file);
    if (isServed(path, config.dataDir))
      throw new Error(`a process is using the ledger at ${path}; stop it first`);
    if (fileExists(path) && !isSet('force')) {
      throw new UsageError(
        `there already is a ledger at ${path}; --force replaces it and keeps it as ${path}.before-restore`,
      );
    }
    // A process that uses it maps its -shm. Without one, the file is not opened, which would change it.
    if (existsSync(`${file}-shm`) && isOpenElsewhere(file))
      throw new Error(`a process is using ${file}; write a backup of it first: openpit backup FILE`);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const partial = join(dirname(path), 'openpit.db.partial');
    try {
      await copyBackup(file, partial);
      await makeRestored(partial);
    } catch (error) {
      removeLedger(partial); // it may have filled the disk
      throw error;
    }
    if (existsSync(path)) keepCurrent(path);
    renameSync(partial, path);
    printLine(`Restored ${file} to ${path}. Replicas and caches reload it.`);
  },
};

/**
 * The spool shows this even if the ledger is missing or too damaged to open. The spool of the data folder may
 * belong to another ledger.
 */
function isServed(path: string, dataDir: string): boolean {
  const isOfFolder = resolve(dirname(path)) === resolve(dataDir);
  return isOpenElsewhere(path) || (isOfFolder && isInUse(join(dataDir, 'spool')));
}

/** Includes the write-ahead log: after a kill, the last writes are only there. */
function keepCurrent(path: string): void {
  for (const part of ['', '-wal', '-shm']) {
    rmSync(`${path}.before-restore${part}`, { force: true });
    restrict(path + part);
    if (existsSync(path + part)) renameSync(path + part, `${path}.before-restore${part}`);
  }
}

/**
 * With a new epoch, replicas and clients discard their caches. The processes of the time of the backup have not died: nobody
 * needs to look for them. None of them holds its leases any more: the first start releases them, instead of waiting
 * 15 minutes. What a spool has of them is still counted.
 */
async function makeRestored(file: string): Promise<void> {
  const handle = new SQL({ adapter: 'sqlite', filename: file });
  const hasTable = async (name: string) =>
    (await handle`SELECT 1 FROM sqlite_master WHERE name = ${name}`).length > 0;
  await handle`UPDATE meta SET value = ${crypto.randomUUID()} WHERE name = 'epoch'`;
  if (await hasTable('replica')) await handle`DELETE FROM replica`; // since schema 6
  if (await hasTable('quota_holder')) await handle`UPDATE quota_holder SET expires_at = 0`; // since schema 15
  await handle.unsafe('PRAGMA wal_checkpoint(TRUNCATE)');
  await handle.close();
}
