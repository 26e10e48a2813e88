import type { RowValues, Sql } from './rows.ts';

/**
 * What differs between SQLite and PostgreSQL, and nothing else does. Every other file of the ledger speaks
 * the dialect that both understand:
 *   lock by UPDATE … RETURNING, CASE instead of greatest(), flags as INTEGER, times as BIGINT ms,
 *   prices as DOUBLE PRECISION; values that are read are decoded by engine/rows.ts.
 */
export interface Engine {
  readonly name: 'sqlite' | 'postgres';

  /** A handle for reading. It never sees a half-done write. */
  readonly read: Sql;

  /**
   * Runs `work` in one transaction on the handle it is given. Transactions of one process do not overlap on
   * SQLite. A transaction that lost a race (busy file, deadlock, serialization) is run again, so `work` must
   * have no effect outside its transaction. A migration may take longer than any other.
   */
  write<T>(work: (tx: Sql) => Promise<T>, isMigration?: boolean): Promise<T>;

  /**
   * Runs `work` on a handle that sees the ledger as it is now, for as long as `work` takes. Nothing can be written through
   * it.
   */
  snapshot<T>(work: (handle: Sql) => Promise<T>): Promise<T>;

  /** The same as `write` for prices: refused with `Unavailable` while the little room that is left is for the counts. */
  writePrices<T>(work: (tx: Sql) => Promise<T>): Promise<T>;

  /** Whether prices are taken in: there is more room than the counts may need. */
  hasDiskSpace(): boolean;

  /** Done now and then by whoever takes prices in: sees to it that the counts find room when the disk is full. */
  tidy(): Promise<void>;

  /** The n-th placeholder of a statement that is put together as text. */
  placeholder(n: number): string;

  /** Loads many rows at once, where the engine has a way of its own that is faster than INSERT. */
  load?(tx: Sql, into: string, rows: readonly RowValues[]): Promise<void>;

  /** Whether the ledger's database has this table. */
  hasTable(handle: Sql, name: string): Promise<boolean>;

  /** Holds off every other migration until the transaction ends. */
  lockForMigration(tx: Sql): Promise<void>;

  /** From here on, a statement of the transaction that waits longer than this for a lock fails. */
  limitLockWaits(tx: Sql, ms: number): Promise<void>;

  /** Put behind a CREATE TABLE whose rows should lie in the order of their primary key. */
  readonly clustered: string;

  /**
   * SQL text for the course of events that the database is on, as a text. A standby that is promoted, or a database that is
   * recovered to an earlier moment, begins a new one: from there on the same revision may mean something else. Empty where
   * that cannot happen, or cannot be told.
   */
  readonly timeline: string;

  /**
   * How far this server has come, in ms of the primary's clock, if it is a standby: it has every write that was committed
   * before. Infinity where it is not one.
   */
  replayedAt(): Promise<number>;

  /** Resolves when every committed write would survive the loss of power. */
  flush(): Promise<void>;

  /** The ledger's own time in ms: with several replicas, all go by it. */
  now(handle: Sql): Promise<number>;

  close(): Promise<void>;
}

/**
 * What a ledger is opened for: to serve requests, which cannot wait long; to ingest prices; to run a command; or only to
 * read, for point-in-time requests.
 */
export type LedgerUse = 'serving' | 'feeding' | 'working' | 'reading';
