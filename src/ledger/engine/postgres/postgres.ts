import type { Engine, LedgerUse } from '../engine.ts';
import { isFull, isStalePlan, outageReason } from '../errors.ts';
import { asNumber, type Cell, onlyRow, optional, type RowValues, type Sql, type SqlQuery } from '../rows.ts';
import { closeConnections, connectPostgres } from './connections.ts';
import { hasMoved } from './hosts/server.ts';
import type { PostgresPool } from './pool.ts';

/** Serialization failure and deadlock: the server has rolled back, and a retry may succeed. */
const LOST_A_RACE = new Set(['40001', '40P01']);
const ATTEMPTS = 10;

/**
 * Per handle. PostgreSQL allows 100 in total by default. Few writers, because price writes are serialized anyway, and each
 * connection prepares its own statements, which costs a round trip while a quota's lock is held.
 */
const READERS_MAX = { serving: 7, feeding: 2, working: 2, reading: 1 };
const WRITERS_MAX = { serving: 3, feeding: 2, working: 2, reading: 1 };
/** A request must be quick; other work should leave connections and cores to requests. */
const PARALLEL_READS = { serving: 3, feeding: 1, working: 1, reading: 1 };
/** About 30 ms of the server's time; it takes none of this thread's. */
const ROWS_PER_AGGREGATE = 64_000;
/** Nobody waits for the rows of a deletion; larger batches commit less often. */
const ROWS_PER_DELETE = 10_000;
/** Serving a request can wait for seconds; checking a whole ledger takes longer. */
const STATEMENT_MS_MAX = { serving: 4_000, feeding: 10_000, working: 30_000, reading: 10_000 };
/** Lets the server cancel a statement first, with its reason. */
const MARGIN_MS = 1_000;
/**
 * Statements of a transaction normally follow within microseconds. A process that crashed or hangs keeps its locks this
 * long, and the whole cluster waits for them to count requests.
 */
const IDLE_IN_TRANSACTION_MS_MAX = { serving: 2_000, feeding: 5_000, working: 30_000, reading: 2_000 };
/** Building an index over many rows takes minutes. */
const MIGRATION_MS_MAX = 10 * 60_000;

/** The server has become a standby, and its successor is at the same address. */
const READ_ONLY = '25006';

/**
 * The first part of the name of the current WAL file. A standby has none; it records its timeline at checkpoints, so it
 * may report an older one for some minutes after a failover.
 */
const TIMELINE = `'-' || CASE
  WHEN pg_is_in_recovery() THEN (SELECT upper(lpad(to_hex(greatest(c.timeline_id, r.min_recovery_end_timeline)), 8, '0'))
    FROM pg_control_checkpoint() c, pg_control_recovery() r)
  ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END`;

/** Any number that no other program on the same database uses for an advisory lock. */
const MIGRATION_LOCK = 0x6f70_6974;

export async function openPostgres(url: string, use: LedgerUse): Promise<Engine> {
  const connections = await connectPostgres(url, {
    limits: {
      statementMs: STATEMENT_MS_MAX[use],
      idleInTransactionMs: IDLE_IN_TRANSACTION_MS_MAX[use],
      isReadOnly: use === 'reading',
    },
    readersMax: READERS_MAX[use],
    writersMax: WRITERS_MAX[use],
    callMsMax: STATEMENT_MS_MAX[use] + MARGIN_MS,
  });
  const { server, readers, writers } = connections;
  const timeline = (await hasTimeline(readers)) ? TIMELINE : `''`;
  let isDiskFull = false;

  const engine: Engine = {
    name: 'postgres',
    read: readers.read,
    async write<T>(work: (tx: Sql) => Promise<T>, isMigration = false): Promise<T> {
      for (let attempt = 1; ; attempt++) {
        const { url } = server;
        let hasBegun = false;
        const begin = (tx: Sql) => {
          hasBegun = true;
          return work(tx);
        };
        try {
          const result = await writers.begin(begin, isMigration ? MIGRATION_MS_MAX + MARGIN_MS : undefined);
          isDiskFull = false;
          return result;
        } catch (error) {
          if (isFull(error)) isDiskFull = true;
          const state = sqlState(error);
          if (state === READ_ONLY) writers.drop();
          if (attempt === ATTEMPTS) throw error;
          if (LOST_A_RACE.has(state) || isStalePlan(error)) {
            await Bun.sleep(attempt * 5 * Math.random());
            continue;
          }
          // Retry on another server only if nothing was committed for certain: a lost connection does not tell.
          const didNothing = !hasBegun || state === READ_ONLY;
          if (!didNothing || !(await hasMoved(server, url, error))) throw error;
        }
      }
    },
    snapshot: (work) => readers.snapshot(work),
    writePrices: (work) => engine.write(work),
    hasDiskSpace: () => !isDiskFull, // the disk is on another machine: the result of the last write
    async tidy() {
      if (isDiskFull) await engine.write((tx) => tx`UPDATE meta SET value = value WHERE name = 'epoch'`);
    },
    placeholder: (n) => `$${n}`,
    forRows(handle, columns, rows, text) {
      const cells = Object.entries(columns).map(
        ([name, type], i) => `CAST(row.value ->> ${i} AS ${type}) AS ${name}`,
      );
      const elements = 'json_array_elements(CAST(CAST($1 AS TEXT) AS JSON)) AS row (value)';
      const table = `(SELECT ${cells.join(', ')} FROM ${elements}) AS n`;
      const statement = text({ cell: (column) => `n.${column}`, from: `FROM ${table}`, table });
      return sent(handle.unsafe(statement, [JSON.stringify(rows)]));
    },
    writesAlone: false,
    // COPY is about twice as fast as INSERT.
    async load(tx, into, rows) {
      const writer = tx.unsafe(`COPY ${into} FROM STDIN (FORMAT csv)`).writable().getWriter();
      await writer.write(rows.map(csvLine).join(''));
      await writer.close();
    },
    async hasTable(handle, name) {
      const rows = await handle`SELECT 1 WHERE to_regclass(${name}) IS NOT NULL`;
      return rows.length > 0;
    },
    lockForMigration: async (tx) => {
      await tx.unsafe(`SET LOCAL statement_timeout = ${MIGRATION_MS_MAX}`);
      await tx`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`;
    },
    limitLockWaits: async (tx, ms) => {
      await tx.unsafe(`SET LOCAL lock_timeout = ${ms}`);
    },
    parallelReads: PARALLEL_READS[use],
    rowsPerAggregate: ROWS_PER_AGGREGATE,
    rowsPerDelete: ROWS_PER_DELETE,
    clustered: '',
    timeline,
    async now(handle) {
      const row = onlyRow(
        await handle`SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS ms`,
      );
      return asNumber(row.ms);
    },
    async replayedAt() {
      const row = onlyRow(
        await readers.read`SELECT CASE WHEN pg_is_in_recovery() THEN 1 ELSE 0 END AS standby,
          CAST(extract(epoch FROM pg_last_xact_replay_timestamp()) * 1000 AS BIGINT) AS ms`,
      );
      if (asNumber(row.standby) === 0) return Number.POSITIVE_INFINITY;
      return optional(asNumber)(row.ms) ?? Number.NEGATIVE_INFINITY; // nothing replayed since it was started
    },
    flush: async () => {}, // a commit is synced to disk
    interrupt() {
      readers.drop();
      writers.drop();
    },
    close: () => closeConnections(connections),
  };
  return engine;
}

/** Some managed services lack these functions. There, only a lower counter reveals a failover that lost writes. */
async function hasTimeline(readers: PostgresPool): Promise<boolean> {
  try {
    await readers.readUnprepared(`SELECT ${TIMELINE} AS timeline`);
    return true;
  } catch (error) {
    if (outageReason(error) !== undefined) throw error;
    return false;
  }
}

/** An empty cell means NULL; text is always quoted, so an empty text is not NULL. */
/** Sends a query now instead of when it is awaited. */
function sent(query: SqlQuery): Promise<Cell[][]> {
  const rows = query.values();
  query.execute();
  return rows;
}

function csvLine(row: RowValues): string {
  const cells = row.map((cell) =>
    typeof cell === 'string' ? `"${cell.replaceAll('"', '""')}"` : (cell ?? ''),
  );
  return `${cells.join(',')}\n`;
}

/** Bun puts ERR_POSTGRES_SERVER_ERROR into `code` and the SQLSTATE into `errno`. */
function sqlState(error: unknown): string {
  return error instanceof Error && 'errno' in error ? String(error.errno) : '';
}
