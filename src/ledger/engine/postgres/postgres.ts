import type { Engine, LedgerUse } from '../engine.ts';
import { isFull, isStalePlan, outageReason } from '../errors.ts';
import { asNumber, onlyRow, optional, type RowValues, type Sql } from '../rows.ts';
import { closeConnections, connectPostgres } from './connections.ts';
import { hasMoved } from './hosts/server.ts';
import type { PostgresPool } from './pool.ts';

/** Serialization failure and deadlock: the server has rolled back, and the same work may succeed now. */
const LOST_A_RACE = new Set(['40001', '40P01']);
const ATTEMPTS = 10;

/**
 * For one handle. PostgreSQL takes 100 in all by default. Few for writing: price writes wait for each other in any case,
 * and a statement is prepared anew on each connection, which is one round trip more while a quota's lock is held.
 */
const READERS_MAX = { serving: 7, feeding: 2, working: 2, reading: 1 };
const WRITERS_MAX = { serving: 3, feeding: 2, working: 2, reading: 1 };
/** Who answers requests can wait for seconds; who checks a whole ledger, longer. */
const STATEMENT_MS_MAX = { serving: 4_000, feeding: 10_000, working: 30_000, reading: 10_000 };
/** The server ends a statement first, and says why. */
const MARGIN_MS = 1_000;
/**
 * Between two statements of a transaction there are microseconds. A process that is gone without a word, or stands
 * still, leaves its locks; the whole cluster's counting waits for them so long.
 */
const IDLE_IN_TRANSACTION_MS_MAX = { serving: 2_000, feeding: 5_000, working: 30_000, reading: 2_000 };
/** An index over many rows takes its time. */
const MIGRATION_MS_MAX = 10 * 60_000;

/** The server cannot be written to any more: it has become a standby, and its successor is at the same address. */
const READ_ONLY = '25006';

/**
 * The first part of the name of the current WAL file. A standby has none; it notes the timeline that it follows at its
 * checkpoints, so it may name an older one for some minutes after a failover.
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
  const timeline = (await tellsTimeline(readers)) ? TIMELINE : `''`;
  let isFullNow = false;

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
          isFullNow = false;
          return result;
        } catch (error) {
          if (isFull(error)) isFullNow = true;
          const state = sqlState(error);
          if (state === READ_ONLY) writers.drop();
          if (attempt === ATTEMPTS) throw error;
          if (LOST_A_RACE.has(state) || isStalePlan(error)) {
            await Bun.sleep(attempt * 5 * Math.random());
            continue;
          }
          // Only what certainly did not happen is done again elsewhere: a lost connection does not tell.
          const didNothing = !hasBegun || state === READ_ONLY;
          if (!didNothing || !(await hasMoved(server, url, error))) throw error;
        }
      }
    },
    snapshot: (work) => readers.snapshot(work),
    writePrices: (work) => engine.write(work),
    hasDiskSpace: () => !isFullNow, // its disk is another machine's: what the last write said
    async tidy() {
      if (isFullNow) await engine.write((tx) => tx`UPDATE meta SET value = value WHERE name = 'epoch'`);
    },
    placeholder: (n) => `$${n}`,
    // COPY takes rows about twice as fast as INSERT does.
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
      return optional(asNumber)(row.ms) ?? Number.NEGATIVE_INFINITY; // nothing since it was started
    },
    flush: async () => {}, // a commit waits for the disk
    close: () => closeConnections(connections),
  };
  return engine;
}

/** Some managed services lack these functions. There, a failover that loses writes is only seen when a counter is lower. */
async function tellsTimeline(readers: PostgresPool): Promise<boolean> {
  try {
    await readers.readUnprepared(`SELECT ${TIMELINE} AS timeline`);
    return true;
  } catch (error) {
    if (outageReason(error) !== undefined) throw error;
    return false;
  }
}

/** Nothing is NULL; a text is always quoted, so that an empty one is not. */
function csvLine(row: RowValues): string {
  const cells = row.map((cell) =>
    typeof cell === 'string' ? `"${cell.replaceAll('"', '""')}"` : (cell ?? ''),
  );
  return `${cells.join(',')}\n`;
}

/** Bun says ERR_POSTGRES_SERVER_ERROR in `code` and gives the SQLSTATE in `errno`. */
function sqlState(error: unknown): string {
  return error instanceof Error && 'errno' in error ? String(error.errno) : '';
}
