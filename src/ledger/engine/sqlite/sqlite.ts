import { mkdirSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SQL } from 'bun';
import type { Clock } from '../../../runtime/clock.ts';
import { hasDiskSpace, requireDiskSpace } from '../disk-space.ts';
import type { Engine } from '../engine.ts';
import { type Sql, typed } from '../rows.ts';
import { createPrivate, restrict } from './private-file.ts';
import { WriteQueue } from './write-queue.ts';

/**
 * SQLite runs on the caller's thread, so nothing here may wait inside SQLite: a busy file is tried again from
 * the event loop. A query awaited while another task's transaction is open on the same handle would run inside
 * that transaction; so there is one handle for writing, with a queue before it, and one for reading.
 */
export async function openSqlite(path: string, clock: Clock): Promise<Engine> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 }); // the ledger holds secrets and customers' names
  createPrivate(path);
  for (const suffix of ['-wal', '-shm', '-waiting']) restrict(path + suffix); // an earlier version may have made them
  const writer: Writer = { handle: await openHandle(path, 0), line: new WriteQueue(path) };
  await writer.handle.unsafe(`PRAGMA cache_size = -${WRITER_CACHE_KB}`);
  const reader = await openHandle(path, READER_BUSY_MS_MAX);
  let queue: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(job: () => Promise<T>): Promise<T> => {
    const turn = queue.then(job);
    queue = turn.catch(() => {}).then(restOfLoop);
    return turn;
  };

  return {
    name: 'sqlite',
    read: typed(reader),
    write: (work) => inTurn(() => transact(writer, work)),
    snapshot: (work) => snapshotOf(path, work),
    writePrices: (work) =>
      inTurn(async () => {
        requireDiskSpace(dirname(path));
        return transact(writer, work);
      }),
    hasDiskSpace: () => hasDiskSpace(dirname(path)),
    tidy: () => inTurn(() => tidy(path, writer)),
    placeholder: () => '?',
    hasTable,
    lockForMigration: async () => {}, // BEGIN IMMEDIATE already holds everyone off
    limitLockWaits: async () => {},
    clustered: 'WITHOUT ROWID',
    timeline: `''`,
    replayedAt: async () => Number.POSITIVE_INFINITY,
    now: async () => clock.now(),
    flush: () => syncFile(`${path}-wal`),
    async close() {
      await queue;
      await reader.close();
      await writer.handle.close();
    },
  };
}

/** For a thread that never writes. The file must exist and be in WAL mode. */
export async function openSqliteForReading(path: string, clock: Clock): Promise<Engine> {
  const reader = new SQL({ adapter: 'sqlite', filename: path, readonly: true });
  await reader.unsafe(`PRAGMA busy_timeout = ${READER_BUSY_MS_MAX}`);
  const isReadOnly = () => Promise.reject(new Error('this handle of the ledger is for reading'));
  return {
    name: 'sqlite',
    read: typed(reader),
    write: isReadOnly,
    snapshot: (work) => snapshotOf(path, work),
    writePrices: isReadOnly,
    hasDiskSpace: () => hasDiskSpace(dirname(path)),
    tidy: isReadOnly,
    placeholder: () => '?',
    hasTable,
    lockForMigration: isReadOnly,
    limitLockWaits: isReadOnly,
    clustered: 'WITHOUT ROWID',
    timeline: `''`,
    replayedAt: async () => Number.POSITIVE_INFINITY,
    now: async () => clock.now(),
    flush: isReadOnly,
    close: () => reader.close(),
  };
}

/** In WAL mode a reader sees the file as it was when its transaction first read from it. */
async function snapshotOf<T>(path: string, work: (handle: Sql) => Promise<T>): Promise<T> {
  const handle = new SQL({ adapter: 'sqlite', filename: path, readonly: true });
  try {
    await handle.unsafe(`PRAGMA busy_timeout = ${READER_BUSY_MS_MAX}`);
    await handle.unsafe('BEGIN');
    await handle.unsafe('SELECT 1 FROM meta LIMIT 1');
    return await work(typed(handle));
  } finally {
    await handle.close();
  }
}

async function hasTable(handle: Sql, name: string): Promise<boolean> {
  const rows = await handle`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ${name}`;
  return rows.length > 0;
}

/**
 * SQLite answers at once, so a chain of transactions would never leave the microtask queue: timers, sockets and messages
 * wait until its end (388 ms for an import of 40,000 bars). Between two transactions the event loop gets its turn.
 */
function restOfLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Readers wait for nobody in WAL mode, except while the file is being recovered. */
const READER_BUSY_MS_MAX = 2_000;

/** A push of 2,000 ticks of 126 symbols touches more pages than SQLite's own 2 MB hold. */
const WRITER_CACHE_KB = 8_000;

/** What a checkpoint is made at: SQLite's own 1,000 pages, and a little. */
const LOG_BYTES = 4.5 * 1024 * 1024;

/**
 * A commit writes to the log, and the log starts over once all of it is in the file. So with a log that has had its full
 * size once, and nothing in it that would make the file grow, counts are written without any more room. When the disk
 * fills up from one moment to the next, what was committed since the last look may stand in the way.
 */
async function tidy(path: string, writer: Writer): Promise<void> {
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (logBytes < LOG_BYTES && hasDiskSpace(dirname(path))) {
    // Two transactions: pages that are taken and freed in one are never written. The file keeps them for the counts, too.
    await transact(
      writer,
      (tx) => tx`INSERT INTO meta (name, value) VALUES ('room', zeroblob(${LOG_BYTES}))
        ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    );
    await transact(writer, (tx) => tx`DELETE FROM meta WHERE name = 'room'`);
  }
  await writer.handle.unsafe('PRAGMA wal_checkpoint(PASSIVE)');
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

/** The one handle that writes, and its place in the line of all that do. */
interface Writer {
  handle: SQL;
  line: WriteQueue;
}

async function transact<T>({ handle, line }: Writer, work: (tx: Sql) => Promise<T>): Promise<T> {
  await line.giveWay();
  // A deferred BEGIN that reads and then writes fails with BUSY_SNAPSHOT; IMMEDIATE takes the lock first.
  await retryWhileBusy(
    () => handle.unsafe('BEGIN IMMEDIATE'),
    () => line.wait(),
  );
  line.enter();
  try {
    const result = await work(typed(handle));
    await retryWhileBusy(() => handle.unsafe('COMMIT'));
    return result;
  } catch (error) {
    await handle.unsafe('ROLLBACK').catch(() => {});
    throw error;
  } finally {
    line.leave();
  }
}

/** 30 s: far more than any writer holds the file, and short enough that a stuck one is noticed. */
const BUSY_LIMIT_MS = 30_000;

/** Less than the time for which who has just written gives way. */
const PAUSE_MS_MAX = 4;

async function retryWhileBusy(statement: () => Promise<unknown>, onBusy = () => {}): Promise<void> {
  const start = performance.now();
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
    try {
      await statement();
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() - start > BUSY_LIMIT_MS) throw error;
      onBusy();
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
