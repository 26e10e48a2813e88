import { Database } from 'bun:sqlite';
import { createPrivate } from '../../ledger/engine/sqlite/private-file.ts';

/** Held for the life of the process; the kernel releases it even after SIGKILL. */
export interface SlotLock {
  release(): void;
}

/** Takes the lock of a file, or gives undefined when another process, or another owner in this one, has it. */
export type LockSlot = (path: string) => SlotLock | undefined;

/** Keeps locks reachable: a database that is garbage collected would close, and release its lock unnoticed. */
const held = new Set<Database>();

/**
 * Bun has no flock. SQLite, which is part of Bun, locks files on every system it runs on, and keeps several owners
 * within one process apart as well. So the lock is an empty database with an exclusive transaction that never ends.
 */
export const lockSlot: LockSlot = (path) => {
  createPrivate(path);
  const database = new Database(path, { create: true });
  try {
    database.run('PRAGMA busy_timeout = 0');
    database.run('PRAGMA journal_mode = MEMORY'); // no second file beside it
    database.run('BEGIN EXCLUSIVE');
    held.add(database);
    return {
      release() {
        held.delete(database);
        database.close();
      },
    };
  } catch (error) {
    database.close();
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') return undefined;
    throw error;
  }
};
