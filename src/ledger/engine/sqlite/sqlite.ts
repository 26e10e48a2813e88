import { mkdirSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../../../runtime/clock.ts';
import { codeOf, messageOf } from '../../../runtime/log/log.ts';
import { hasDiskSpace, RESERVED_SPACE, requireDiskSpace } from '../disk-space.ts';
import type { Engine, LedgerUse } from '../engine.ts';
import { asNumber, onlyRow, type Sql } from '../rows.ts';
import { type HandleOptions, SqliteHandle } from './handle.ts';
import { createPrivate, requireAccess, restrict } from './private-file.ts';
import { WriteQueue } from './write-queue.ts';

/** About 20 ms: a push does not wait longer for the write lock. */
const ROWS_PER_DELETE = 2_000;
/**
 * How long requests wait for a report of counts or for new leases. Time, not rows: between two turns of a busy event loop, many
 * other tasks have theirs, and a sync of 256 accounts that took 48 turns was not finished after a second.
 */
const SERVING_MS_PER_TURN = 0.5;
/** Less than 1 ms of this thread. */
const ROWS_PER_AGGREGATE = 1_000;

/**
 * SQLite runs on the caller's thread, so nothing here may block inside SQLite: a busy file is retried from the event loop.
 * A query on a handle with an open transaction of another task would run inside that transaction. So there is one handle
 * for writing, behind a queue, and one for reading.
 */
export async function openSqlite(path: string, clock: Clock, use: LedgerUse = 'working'): Promise<Engine> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 }); // the ledger holds secrets and customers' names
  createPrivate(path);
  for (const suffix of ['-wal', '-shm', '-waiting']) restrict(path + suffix); // an earlier version may have made them
  const msPerTurn = use === 'serving' ? SERVING_MS_PER_TURN : undefined;
  const writer: Writer = {
    handle: await openHandle(path, 0, msPerTurn),
    lock: new WriteQueue(path),
    fullUntil: Number.NEGATIVE_INFINITY,
  };
  await writer.handle.sql.unsafe(`PRAGMA cache_size = -${WRITER_CACHE_KB}`);
  await writer.handle.sql.unsafe(
    `PRAGMA wal_autocheckpoint = ${use === 'serving' ? SERVING_LOG_PAGES_MAX : CHECKPOINT_PAGES}`,
  );
  const reader = await openHandle(path, READER_BUSY_MS_MAX);
  let queue: Promise<unknown> = Promise.resolve();
  const enqueue = <T>(job: () => Promise<T>): Promise<T> => {
    const result = queue.then(job);
    queue = result.catch(() => {}).then(nextTurn);
    return result;
  };

  return {
    ...commonTo(path, clock),
    read: reader.sql,
    write: (work) =>
      enqueue(async () => {
        if (!hasDiskSpace(dirname(path))) await reuseLog(writer);
        return transact(writer, work);
      }),
    writePrices: (work) =>
      enqueue(async () => {
        requireDiskSpace(dirname(path));
        return transact(writer, work);
      }),
    reserveDiskSpace: () => enqueue(() => reserveDiskSpace(path, writer)),
    checkpoint: () => enqueue(() => checkpoint(writer)),
    forRows: (handle, ...statement) =>
      (handle === writer.handle.sql ? writer.handle : reader).forRows(...statement),
    lockForMigration: async () => {}, // BEGIN IMMEDIATE already blocks other writers
    limitLockWaits: async () => {},
    flush: () => syncFile(`${path}-wal`),
    async close() {
      await queue;
      reader.close();
      writer.handle.close();
    },
  };
}

/** For a thread that never writes. The file must exist and be in WAL mode. */
export async function openSqliteForReading(path: string, clock: Clock): Promise<Engine> {
  const reader = openFile(path, { isReadOnly: true });
  await reader.sql.unsafe(`PRAGMA busy_timeout = ${READER_BUSY_MS_MAX}`);
  const refuseWrite = () => Promise.reject(new Error('this handle of the ledger is read-only'));
  return {
    ...commonTo(path, clock),
    read: reader.sql,
    write: refuseWrite,
    writePrices: refuseWrite,
    reserveDiskSpace: refuseWrite,
    checkpoint: refuseWrite,
    forRows: (_, ...statement) => reader.forRows(...statement),
    lockForMigration: refuseWrite,
    limitLockWaits: refuseWrite,
    flush: refuseWrite,
    close: async () => reader.close(),
  };
}

/** What an engine for writing and one for reading have in common. */
function commonTo(path: string, clock: Clock) {
  return {
    name: 'sqlite',
    snapshot: <T>(work: (handle: Sql) => Promise<T>) => snapshotOf(path, work),
    hasDiskSpace: () => hasDiskSpace(dirname(path)),
    placeholder: () => '?',
    writesAlone: true,
    hasTable,
    parallelReads: 1, // it runs on this thread
    parallelLoads: 1,
    rowsPerAggregate: ROWS_PER_AGGREGATE,
    rowsPerDelete: ROWS_PER_DELETE,
    clustered: 'WITHOUT ROWID',
    timeline: `''`,
    readOnly: `'off'`,
    replayedAt: async () => Number.POSITIVE_INFINITY,
    now: async () => clock.now(),
    hasOwnClock: false,
    interrupt() {}, // it runs on this thread: nothing is in progress
  } satisfies Partial<Engine>;
}

/** In WAL mode, a read transaction sees the file as of its first read. */
async function snapshotOf<T>(path: string, work: (handle: Sql) => Promise<T>): Promise<T> {
  const handle = openFile(path, { isReadOnly: true });
  try {
    await handle.sql.unsafe(`PRAGMA busy_timeout = ${READER_BUSY_MS_MAX}`);
    await handle.sql.unsafe('BEGIN');
    await handle.sql.unsafe('SELECT 1 FROM meta LIMIT 1');
    return await work(handle.sql);
  } finally {
    handle.close();
  }
}

async function hasTable(handle: Sql, name: string): Promise<boolean> {
  const rows = await handle`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ${name}`;
  return rows.length > 0;
}

/**
 * SQLite returns synchronously, so a chain of transactions would never leave the microtask queue, and would block timers,
 * sockets and messages (388 ms for an import of 40,000 bars). The event loop runs between two transactions.
 */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** In WAL mode, readers wait only while the file is being recovered. */
const READER_BUSY_MS_MAX = 2_000;

/** A push of 2,000 ticks of 126 symbols touches more pages than SQLite's default cache of 2 MB holds. */
const WRITER_CACHE_KB = 8_000;

/** SQLite's default. */
const CHECKPOINT_PAGES = 1_000;

/**
 * A checkpoint takes 10 ms and longer, because it waits for the disk. The feed thread does it, not a commit of the thread that
 * serves requests, unless the feed thread is far behind.
 */
const SERVING_LOG_PAGES_MAX = 4 * CHECKPOINT_PAGES;

/** `CHECKPOINT_PAGES`, plus a margin. */
const LOG_BYTES = 4.5 * 1024 * 1024;

/**
 * Lets usage counts be written on a full disk. A commit appends to the WAL, which is reused after a checkpoint: once it has
 * reached its full size and holds nothing that makes the main file grow, small commits need no more disk space. If the
 * disk fills up suddenly, commits since the last call may still need space.
 */
async function reserveDiskSpace(path: string, writer: Writer): Promise<void> {
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (logBytes < LOG_BYTES && hasDiskSpace(dirname(path))) {
    // Two transactions, because pages that one transaction allocates and frees are never written. The main file keeps the
    // free pages for counts too.
    await transact(
      writer,
      (tx) => tx`INSERT INTO meta (name, value) VALUES (${RESERVED_SPACE}, zeroblob(${LOG_BYTES}))
        ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    );
    await transact(writer, (tx) => tx`DELETE FROM meta WHERE name = ${RESERVED_SPACE}`);
  }
  await writer.handle.sql.unsafe('PRAGMA wal_checkpoint(PASSIVE)');
}

async function checkpoint({ handle: { sql } }: Writer): Promise<void> {
  const { log, checkpointed } = onlyRow(await sql.unsafe('PRAGMA wal_checkpoint(NOOP)'));
  if (asNumber(log) - asNumber(checkpointed) >= CHECKPOINT_PAGES)
    await sql.unsafe('PRAGMA wal_checkpoint(PASSIVE)');
}

/** Leaves more than half of `LOG_BYTES` to the next transaction. */
const FULL_DISK_LOG_PAGES = CHECKPOINT_PAGES / 2;

/** A checkpoint that fails takes as long as one that does not. */
const FULL_DISK_RETRY_MS = 1_000;

/**
 * On a full disk the log cannot grow, and those who serve requests would fill it faster than the feed thread, once a second,
 * takes a checkpoint. So each writer does, before a transaction. RESTART, because after a PASSIVE one the log is only reused if
 * no other process has written to it before the transaction begins.
 */
async function reuseLog(writer: Writer): Promise<void> {
  if (performance.now() < writer.fullUntil) return;
  const { sql } = writer.handle;
  try {
    const { log } = onlyRow(await sql.unsafe('PRAGMA wal_checkpoint(NOOP)'));
    if (asNumber(log) >= FULL_DISK_LOG_PAGES) await sql.unsafe('PRAGMA wal_checkpoint(RESTART)');
  } catch {
    // The main file has no free pages left and cannot grow. The log may still have room for the transaction.
    writer.fullUntil = performance.now() + FULL_DISK_RETRY_MS;
  }
}

/**
 * With synchronous = NORMAL, the WAL is synced at the next checkpoint: a killed process loses nothing, but a power failure
 * may lose commits. What is acknowledged to a sender must be on disk.
 */
async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r+').catch(() => undefined);
  if (!handle) return; // no WAL: everything is in the main file
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function openHandle(path: string, busyTimeoutMs: number, msPerTurn?: number): Promise<SqliteHandle> {
  const handle = openFile(path, { msPerTurn });
  const { sql } = handle;
  await sql.unsafe('PRAGMA busy_timeout = 5000'); // while the journal mode is being changed
  await sql.unsafe('PRAGMA journal_mode = WAL');
  await sql.unsafe('PRAGMA synchronous = NORMAL');
  await sql.unsafe('PRAGMA foreign_keys = ON');
  await sql.unsafe(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  return handle;
}

/** SQLite says only that it cannot open a file. */
function openFile(path: string, options: HandleOptions): SqliteHandle {
  try {
    return new SqliteHandle(path, options);
  } catch (error) {
    requireAccess(path);
    throw error;
  }
}

/** The only handle that writes, and the queue for the write lock. */
interface Writer {
  handle: SqliteHandle;
  lock: WriteQueue;
  /** Until then, no checkpoint is tried before a transaction: the last one found the disk full. */
  fullUntil: number;
}

async function transact<T>({ handle, lock }: Writer, work: (tx: Sql) => Promise<T>): Promise<T> {
  const { sql } = handle;
  await lock.yieldToOthers();
  // A deferred BEGIN that reads and then writes fails with BUSY_SNAPSHOT; IMMEDIATE takes the lock first.
  await retryWhileBusy(
    () => sql.unsafe('BEGIN IMMEDIATE'),
    () => lock.wait(),
  );
  lock.enter();
  try {
    const result = await work(sql);
    await retryWhileBusy(() => sql.unsafe('COMMIT'));
    return result;
  } catch (error) {
    await sql.unsafe('ROLLBACK').catch(() => {});
    throw error;
  } finally {
    lock.leave();
  }
}

/** Far longer than any writer holds the lock, and short enough to notice a stuck one. */
const BUSY_LIMIT_MS = 30_000;

/** Less than the time for which a bulk writer yields. */
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
  return /SQLITE_BUSY|database is locked/.test(`${codeOf(error)} ${messageOf(error)}`);
}
