import { type Engine, isReadOnly, type LedgerUse } from '../engine.ts';
import type { Sql } from '../rows.ts';
import { type Connections, closeConnections, connectPostgres } from './connections.ts';
import { copyRows, forRows, hasTable, replayedAt, serverTime, timelineExpression } from './statements.ts';
import { Transactions } from './transactions.ts';

/** The resources of the server that one kind of use may take. */
interface UseLimits {
  /**
   * Connections per handle. PostgreSQL allows 100 in total by default. Few writers, because price writes are serialized
   * anyway, and each connection prepares its own statements, which costs a round trip while a quota's lock is held.
   */
  readers: number;
  writers: number;
  /** A request must be quick; other work should leave connections and cores to requests. */
  parallelReads: number;
  /** Serving a request can wait for seconds; checking a whole ledger takes longer. */
  statementMs: number;
  /**
   * Statements of a transaction normally follow within microseconds. A process that crashed or hangs keeps its locks this
   * long, and the whole cluster waits for them to count requests.
   */
  idleInTransactionMs: number;
  /** Requests and feeds read by key. Checks, exports and imports read whole tables. */
  usesIndexes: boolean;
}

const LIMITS: Readonly<Record<LedgerUse, UseLimits>> = {
  serving: {
    readers: 7,
    writers: 3,
    parallelReads: 3,
    statementMs: 4_000,
    idleInTransactionMs: 2_000,
    usesIndexes: true,
  },
  feeding: {
    readers: 2,
    writers: 2,
    parallelReads: 1,
    statementMs: 10_000,
    idleInTransactionMs: 5_000,
    usesIndexes: true,
  },
  working: {
    readers: 2,
    writers: 2,
    parallelReads: 1,
    statementMs: 30_000,
    idleInTransactionMs: 30_000,
    usesIndexes: false,
  },
  reading: {
    readers: 1,
    writers: 1,
    parallelReads: 1,
    statementMs: 10_000,
    idleInTransactionMs: 2_000,
    usesIndexes: true,
  },
  inspecting: {
    readers: 1,
    writers: 1,
    parallelReads: 1,
    statementMs: 10_000,
    idleInTransactionMs: 2_000,
    usesIndexes: false,
  },
};

/** Lets the server cancel a statement first, with its reason. */
const MARGIN_MS = 1_000;
/** Building an index over many rows takes minutes. */
const MIGRATION_MS_MAX = 10 * 60_000;
/** Any number that no other program on the same database uses for an advisory lock. */
const MIGRATION_LOCK = 0x6f70_6974;
/** About 30 ms of the server's time; it takes none of this thread's. */
const ROWS_PER_AGGREGATE = 64_000;
/** Their recent prices are processed within some milliseconds of this thread. */
const PARALLEL_LOADS = 20;
/** Nobody waits for the rows of a deletion; larger batches commit less often. */
const ROWS_PER_DELETE = 10_000;

export async function openPostgres(url: string, use: LedgerUse): Promise<Engine> {
  const connections = await connect(url, use);
  const { readers, writers } = connections;
  const transactions = new Transactions(connections);
  return {
    name: 'postgres',
    read: readers.read,
    write: (work, isMigration) =>
      transactions.run(work, isMigration ? MIGRATION_MS_MAX + MARGIN_MS : undefined),
    snapshot: (work) => readers.snapshot(work),
    writePrices: (work) => transactions.run(work),
    hasDiskSpace: () => !transactions.isDiskFull, // the disk is on another machine: the result of the last write
    reserveDiskSpace: () => tryWriting(transactions),
    checkpoint: async () => {}, // the server does it
    placeholder: (n) => `$${n}`,
    forRows,
    writesAlone: false,
    load: copyRows,
    hasTable,
    lockForMigration,
    limitLockWaits: async (tx, ms) => {
      await tx.unsafe(`SET LOCAL lock_timeout = ${ms}`);
    },
    parallelReads: LIMITS[use].parallelReads,
    parallelLoads: PARALLEL_LOADS,
    rowsPerAggregate: ROWS_PER_AGGREGATE,
    rowsPerDelete: ROWS_PER_DELETE,
    clustered: '',
    timeline: await timelineExpression(readers),
    readOnly: `current_setting('transaction_read_only')`,
    now: serverTime,
    hasOwnClock: true,
    replayedAt: () => replayedAt(readers.read),
    flush: async () => {}, // a commit is synced to disk
    interrupt() {
      readers.drop();
      writers.drop();
    },
    close: () => closeConnections(connections),
  };
}

function connect(url: string, use: LedgerUse): Promise<Connections> {
  const { readers, writers, statementMs, idleInTransactionMs, usesIndexes } = LIMITS[use];
  return connectPostgres(url, {
    limits: { statementMs, idleInTransactionMs, isReadOnly: isReadOnly(use), usesIndexes },
    readersMax: readers,
    writersMax: writers,
    callMsMax: statementMs + MARGIN_MS,
  });
}

/** After a write that found the disk full: finds out whether there is room again. */
async function tryWriting(transactions: Transactions): Promise<void> {
  if (transactions.isDiskFull)
    await transactions.run((tx) => tx`UPDATE meta SET value = value WHERE name = 'epoch'`);
}

async function lockForMigration(tx: Sql): Promise<void> {
  await tx.unsafe(`SET LOCAL statement_timeout = ${MIGRATION_MS_MAX}`);
  await tx`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`;
}
