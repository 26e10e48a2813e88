import { SQL } from 'bun';
import type { Engine } from './engine.ts';
import type { TableRow } from './statements.ts';

/** Serialization failure and deadlock: the server has rolled back, and the same work may succeed now. */
const LOST_A_RACE = new Set(['40001', '40P01']);
const ATTEMPTS = 10;

/** For one replica. PostgreSQL takes 100 by default, so about nine replicas without a pooler. */
const CONNECTIONS_MAX = 10;
const STATEMENT_MS_MAX = 30_000;

/** Any number that no other program on the same database uses for an advisory lock. */
const MIGRATION_LOCK = 0x6f70_6974;

export async function openPostgres(url: string): Promise<Engine> {
  const pool = new SQL({
    url,
    max: CONNECTIONS_MAX,
    idleTimeout: 30,
    connectionTimeout: 10,
    connection: {
      application_name: 'openpit',
      // Nothing here takes longer. A statement that does is stuck, and holds locks that others wait for.
      statement_timeout: STATEMENT_MS_MAX,
      idle_in_transaction_session_timeout: STATEMENT_MS_MAX,
    },
  });
  await pool`SELECT 1`;

  return {
    name: 'postgres',
    read: pool,
    async write<T>(work: (tx: SQL) => Promise<T>): Promise<T> {
      for (let attempt = 1; ; attempt++) {
        try {
          return await pool.begin((tx) => work(tx));
        } catch (error) {
          if (attempt === ATTEMPTS || !LOST_A_RACE.has(sqlState(error))) throw error;
          await Bun.sleep(attempt * 5 * Math.random());
        }
      }
    },
    placeholder: (n) => `$${n}`,
    // COPY takes rows about twice as fast as INSERT does.
    async load(tx, into, rows) {
      const writer = tx.unsafe(`COPY ${into} FROM STDIN (FORMAT csv)`).writable().getWriter();
      await writer.write(rows.map(csvLine).join(''));
      await writer.close();
    },
    lockForMigration: async (tx) => {
      await tx`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`;
    },
    clustered: '',
    async now(handle) {
      const [row] = await handle`SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS ms`;
      return Number(row.ms);
    },
    flush: async () => {}, // a commit waits for the disk
    close: () => pool.close(),
  };
}

/** Nothing is NULL; a text is always quoted, so that an empty one is not. */
function csvLine(row: TableRow): string {
  const cells = row.map((cell) =>
    typeof cell === 'string' ? `"${cell.replaceAll('"', '""')}"` : (cell ?? ''),
  );
  return `${cells.join(',')}\n`;
}

/** Bun says ERR_POSTGRES_SERVER_ERROR in `code` and gives the SQLSTATE in `errno`. */
function sqlState(error: unknown): string {
  return error instanceof Error && 'errno' in error ? String(error.errno) : '';
}
