import type { Cell, RowValues, Sql } from './rows.ts';

/** The columns of rows that a statement gets as values. */
export type ColumnTypes = Readonly<Record<string, 'TEXT' | 'BIGINT'>>;

/** Rows of values in the text of a statement. */
export interface RowsInText {
  /** The value of a column. */
  cell(column: string): string;
  /** A FROM clause with the rows; empty where the statement runs once for each row. */
  readonly from: string;
  /** A FROM clause with the rows and a table: each row of values is combined with each row of the table. */
  fromWith(table: string): string;
  /** A FROM clause with the rows and, for each of them, the rows of a subquery that uses its values. */
  fromEach(subquery: string): string;
  /** The same as a table that others are joined to. */
  readonly table: string;
}

export type RowStatement = (n: RowsInText) => string;

/**
 * The differences between SQLite and PostgreSQL. All other files of the ledger use the dialect that both understand:
 *   lock by UPDATE … RETURNING, CASE instead of greatest(), flags as INTEGER, times as BIGINT ms,
 *   prices as DOUBLE PRECISION. engine/rows.ts decodes the values.
 */
export interface Engine {
  readonly name: 'sqlite' | 'postgres';

  /** A handle for reading. It never sees uncommitted writes. */
  readonly read: Sql;

  /**
   * Runs `work` in one transaction. On SQLite, transactions of one process run one after another. A transaction that lost
   * a race (busy file, deadlock, serialization failure) is retried, so `work` must have no effect outside of it. A
   * migration has a longer time limit.
   */
  write<T>(work: (tx: Sql) => Promise<T>, isMigration?: boolean): Promise<T>;

  /**
   * Runs `work` on a read-only snapshot of the ledger.
   */
  snapshot<T>(work: (handle: Sql) => Promise<T>): Promise<T>;

  /** Like `write`, for prices: throws `Unavailable` while the disk is so full that the rest is reserved for usage counts. */
  writePrices<T>(work: (tx: Sql) => Promise<T>): Promise<T>;

  /** Whether prices are accepted: the disk has more free space than the reserve for usage counts. */
  hasDiskSpace(): boolean;

  /**
   * Reserves disk space for usage counts or, if the disk is on another machine, checks whether it has space again. Called
   * periodically by the process that ingests prices.
   */
  reserveDiskSpace(): Promise<void>;

  /**
   * On SQLite, copies committed changes from the log to the main file if the log has grown. Called about once a second by the
   * thread that ingests prices, so that requests do not wait for it.
   */
  checkpoint(): Promise<void>;

  /** The n-th placeholder of a statement that is built as text. */
  placeholder(n: number): string;

  /**
   * Runs a statement over many rows of values, in their order. Its text does not depend on their number, so it is prepared
   * once: PostgreSQL gets all rows as one parameter, in one round trip; SQLite, which runs in this process, gets one row at
   * a time (5 µs to insert a lease instead of 14 µs). The statement is sent at once, before those that follow.
   */
  forRows(
    handle: Sql,
    columns: ColumnTypes,
    rows: readonly RowValues[],
    text: RowStatement,
  ): Promise<Cell[][]>;

  /** Bulk load, where the engine has something faster than INSERT. */
  load?(tx: Sql, into: string, rows: readonly RowValues[]): Promise<void>;

  /** Whether the ledger's database has this table. */
  hasTable(handle: Sql, name: string): Promise<boolean>;

  /** Blocks other migrations until the transaction ends. */
  lockForMigration(tx: Sql): Promise<void>;

  /** Makes later statements of the transaction fail when they wait longer than this for a lock. */
  limitLockWaits(tx: Sql, ms: number): Promise<void>;

  /** Whether a write transaction excludes all others. If not, rows are locked by `SELECT … FOR UPDATE`. */
  readonly writesAlone: boolean;

  /** How many reads for one request are worth sending at the same time. */
  readonly parallelReads: number;

  /** How many rows one statement may aggregate for a request. */
  readonly rowsPerAggregate: number;

  /** How many symbols to load at the same time: their lookups share round trips. */
  readonly parallelLoads: number;

  /** How many rows to delete in one transaction of a long deletion. */
  readonly rowsPerDelete: number;

  /** Suffix of CREATE TABLE for tables that are stored in primary-key order. */
  readonly clustered: string;

  /**
   * SQL expression for the database's timeline, as text. A promoted standby and a point-in-time recovery start a new one:
   * from there on the same revision may mean something else. Empty if that cannot happen or cannot be detected.
   */
  readonly timeline: string;

  /** SQL expression that is `on` if the database accepts only reads: a standby, or set to read-only by an operator. */
  readonly readOnly: string;

  /**
   * On a standby, the primary's time in ms up to which all commits have been replayed. Infinity on a primary.
   */
  replayedAt(): Promise<number>;

  /** Resolves when every committed write would survive a power failure. */
  flush(): Promise<void>;

  /** The ledger's own time in ms, shared by all replicas. */
  now(handle: Sql): Promise<number>;

  /** Whether `now` is the clock of a server, with which this machine's clock can be compared. */
  readonly hasOwnClock: boolean;

  /** Makes calls in progress fail now, as on a lost connection, so that a stop does not wait for them. */
  interrupt(): void;

  close(): Promise<void>;
}

/**
 * What a ledger is opened for: serving requests (short timeouts), ingesting prices, running a command, or without writing
 * for point-in-time requests (reading) or for checks of the whole ledger (inspecting).
 */
export type LedgerUse = 'serving' | 'feeding' | 'working' | ReadOnlyUse;

export type ReadOnlyUse = 'reading' | 'inspecting';

export function isReadOnly(use: LedgerUse): use is ReadOnlyUse {
  return use === 'reading' || use === 'inspecting';
}
