import { renameSync, rmSync } from 'node:fs';
import { SQL } from 'bun';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/log/log.ts';
import { createPrivate } from './private-file.ts';
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

/** Throws unless the file is a complete ledger. */
export async function verifyBackup(file: string): Promise<void> {
  const handle = new SQL({ adapter: 'sqlite', filename: file, readonly: true });
  try {
    const [row] = await handle.unsafe('PRAGMA integrity_check');
    if (row.integrity_check !== 'ok') throw new Error(`it is damaged: ${row.integrity_check}`);
    await handle`SELECT value FROM meta WHERE name = 'epoch'`;
  } catch (error) {
    throw new Error(`${file} is not a complete ledger: ${messageOf(error)}`);
  } finally {
    await handle.close();
  }
}
