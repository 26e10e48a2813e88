import { Database } from 'bun:sqlite';
import { createPrivate } from '../../ledger/engine/sqlite/private-file.ts';
import { messageOf } from '../../runtime/log/log.ts';

/** Held for the life of the process; the kernel releases it even after SIGKILL. */
export interface SlotLock {
  release(): void;
}

/** Locks a file. Undefined when another process, or another owner in this one, holds the lock. */
export type LockSlot = (path: string) => SlotLock | undefined;

/** Keeps the databases reachable: garbage collection would close them and release their locks. */
const held = new Set<Database>();

/**
 * Bun has no flock. SQLite, which is part of Bun, locks files on every system, and also separates several owners within
 * one process. So the lock is an empty database with an exclusive transaction that stays open.
 */
export const lockSlot: LockSlot = (path) => {
  createPrivate(path);
  const database = new Database(path, { create: true });
  try {
    database.run('PRAGMA busy_timeout = 0');
    database.run('PRAGMA journal_mode = MEMORY'); // no journal file
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
    // Without SQLite's code, by which a caller would take it for an error of the ledger.
    throw new Error(`${path} cannot be locked: ${messageOf(error)}`, { cause: error });
  }
};
