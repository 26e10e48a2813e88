import { mkdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SQL } from 'bun';
import type { Clock } from '../clock.ts';
import type { Engine } from './engine.ts';

/**
 * SQLite runs on the caller's thread, so nothing here may wait inside SQLite: a busy file is tried again from
 * the event loop. A query awaited while another task's transaction is open on the same handle would run inside
 * that transaction; so there is one handle for writing, with a queue before it, and one for reading.
 */
export async function openSqlite(path: string, clock: Clock): Promise<Engine> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 }); // the ledger holds the webhook's secret
  const writer = await openHandle(path, 0);
  // Readers wait for nobody in WAL mode, except while the file is being recovered.
  const reader = await openHandle(path, 2_000);
  let queue: Promise<unknown> = Promise.resolve();

  return {
    name: 'sqlite',
    read: reader,
    write<T>(work: (tx: SQL) => Promise<T>): Promise<T> {
      const turn = queue.then(() => transact(writer, work));
      queue = turn.catch(() => {}).then(restOfLoop);
      return turn;
    },
    placeholder: () => '?',
    lockForMigration: async () => {}, // BEGIN IMMEDIATE already holds everyone off
    clustered: 'WITHOUT ROWID',
    now: async () => clock.now(),
    flush: () => syncFile(`${path}-wal`),
    async close() {
      await queue;
      await reader.close();
      await writer.close();
    },
  };
}

/**
 * SQLite answers at once, so a chain of transactions would never leave the microtask queue: timers, sockets and messages
 * wait until its end (388 ms for an import of 40,000 bars). Between two transactions the event loop gets its turn.
 */
function restOfLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * With synchronous = NORMAL a commit is in the log, and the log is on the disk at the next checkpoint: a killed process
 * loses nothing, a machine without power may. What is acknowledged to a sender must be on the disk.
 */
async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r+').catch(() => undefined);
  if (!handle) return; // no log: everything is in the file itself
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function openHandle(path: string, busyTimeoutMs: number): Promise<SQL> {
  const handle = new SQL({ adapter: 'sqlite', filename: path });
  await handle.unsafe('PRAGMA busy_timeout = 5000'); // while the journal mode is being changed
  await handle.unsafe('PRAGMA journal_mode = WAL');
  await handle.unsafe('PRAGMA synchronous = NORMAL');
  await handle.unsafe('PRAGMA foreign_keys = ON');
  await handle.unsafe(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  return handle;
}

async function transact<T>(writer: SQL, work: (tx: SQL) => Promise<T>): Promise<T> {
  // A deferred BEGIN that reads and then writes fails with BUSY_SNAPSHOT; IMMEDIATE takes the lock first.
  await retryWhileBusy(() => writer.unsafe('BEGIN IMMEDIATE'));
  try {
    const result = await work(writer);
    await retryWhileBusy(() => writer.unsafe('COMMIT'));
    return result;
  } catch (error) {
    await writer.unsafe('ROLLBACK').catch(() => {});
    throw error;
  }
}

/** 30 s: far more than any writer holds the file, and short enough that a stuck one is noticed. */
const BUSY_LIMIT_MS = 30_000;

async function retryWhileBusy(statement: () => Promise<unknown>): Promise<void> {
  const start = performance.now();
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 20)) {
    try {
      await statement();
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() - start > BUSY_LIMIT_MS) throw error;
      await Bun.sleep(pauseMs * (0.5 + Math.random()));
    }
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && /SQLITE_BUSY|database is locked/.test(`${codeOf(error)} ${error.message}`);
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : '';
}
