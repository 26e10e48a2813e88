import { existsSync, renameSync, rmSync } from 'node:fs';
import { SQL } from 'bun';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/log/log.ts';
import { createPrivate, restrict } from './private-file.ts';
import { openSqlite } from './sqlite.ts';

/** Writes a consistent copy of the ledger to a new file, while the service runs. Returns its size. */
export async function writeBackup(path: string, file: string, clock: Clock): Promise<number> {
  // Under another name until it is complete, so that an interrupted backup is never taken for one.
  const partial = `${file}.partial`;
  rmSync(partial, { force: true });
  try {
    createPrivate(partial); // VACUUM INTO accepts an empty file
    await copyLedger(path, partial, clock);
    await verifyBackup(partial);
    renameSync(partial, file);
  } catch (error) {
    rmSync(partial, { force: true }); // it may have filled the disk
    throw error;
  }
  return Bun.file(file).size;
}

/** Copies a ledger of any schema version: backups are made before migrations. */
async function copyLedger(path: string, copy: string, clock: Clock): Promise<void> {
  const engine = await openSqlite(path, clock);
  try {
    await engine.read.unsafe('VACUUM INTO ?', [copy]);
  } finally {
    await engine.close();
  }
}

/**
 * Copies a backup, or a ledger that no process uses, to `copy`, including its write-ahead log: after a kill, the last writes
 * are only there. Throws unless the copy is a complete ledger.
 */
export async function copyBackup(file: string, copy: string): Promise<void> {
  removeLedger(copy);
  for (const part of ['', '-wal']) {
    if (part !== '' && !existsSync(file + part)) continue;
    createPrivate(copy + part);
    await Bun.write(copy + part, Bun.file(file + part));
    restrict(copy + part); // a copy may inherit the mode of its source
  }
  await verifyBackup(copy, file);
}

/** Removes a ledger that is not complete, with its log. */
export function removeLedger(path: string): void {
  for (const part of ['', '-wal', '-shm']) rmSync(path + part, { force: true });
}

/** Throws unless the file is a complete ledger. */
async function verifyBackup(file: string, name = file): Promise<void> {
  const handle = new SQL({ adapter: 'sqlite', filename: file, readonly: true });
  try {
    const [row] = await handle.unsafe('PRAGMA integrity_check');
    if (row.integrity_check !== 'ok') throw new Error(`it is damaged: ${row.integrity_check}`);
    await handle`SELECT value FROM meta WHERE name = 'epoch'`;
  } catch (error) {
    throw new Error(`${name} is not a complete ledger: ${messageOf(error)}`);
  } finally {
    await handle.close();
  }
}
