import { SQL } from 'bun';
import { codeOf, messageOf } from '../../../runtime/log/log.ts';
import { asNumber, onlyRow } from '../rows.ts';
import { hostOf } from './hosts/host-urls.ts';
import { findServer, type Server } from './hosts/server.ts';
import { PostgresPool } from './pool.ts';

/** Limits of every session, direct or pooled. */
export interface SessionLimits {
  /** A statement that takes longer is stuck and holds locks that others wait for. */
  statementMs: number;
  idleInTransactionMs: number;
  isReadOnly: boolean;
  /** Whether its statements find their rows by an index, whatever the planner assumes about the size of the tables. */
  usesIndexes: boolean;
}

export interface PostgresOptions {
  limits: SessionLimits;
  readersMax: number;
  writersMax: number;
  /** After this the client drops its connections. */
  callMsMax: number;
}

export interface Connections {
  server: Server;
  readers: PostgresPool;
  writers: PostgresPool;
}

/** Together with the pause before the next attempt, less than the 5 s in which the service recovers from an outage. */
const CONNECT_SECONDS_MAX = 3;

/**
 * Compiling a statement pays off when it runs for seconds. The ledger's statements take milliseconds, but the planner's estimates
 * can be far higher: PostgreSQL 15 compiled one for 43 ms that then ran for 5 ms.
 */
const NO_JIT = 'off';

/**
 * The planner's settings for statements that read rows and join tables in the order of an index. Their plans are kept, and those
 * made while a table was new would scan it for every key and every report of counts when it has ten thousand rows, until
 * autovacuum has analyzed it.
 */
const ONLY_INDEXES = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_material: 'off',
  // Starting worker processes takes 20 ms, which the planner underestimates, also of a statement that then finds no row.
  max_parallel_workers_per_gather: 0,
};

/** What the ledger's statements are written for, whatever the default of the database or its user is. */
const ISOLATION = 'read committed';

/**
 * Connects to PostgreSQL, directly or through a pooler in transaction mode (PgBouncer and its like).
 *
 * A direct session gets its limits as startup parameters, once, and keeps its prepared statements. Behind a pooler each
 * transaction may run in another session: startup parameters are rejected or ignored, and prepared statements of one session
 * are unknown in the next. There every transaction sets its limits itself, a read is a transaction of its own, and no
 * statement is prepared by name. The first connection detects which of the two it is; `?prepare=false` in the URL selects
 * the second without detection.
 *
 * With several hosts in the URL, all connections go to the primary. When another server becomes the primary, the
 * connections to the old one are dropped, so that nothing can be written there any more.
 */
export async function connectPostgres(url: string, options: PostgresOptions): Promise<Connections> {
  const server = await findServer(url);
  const connections = await createConnections(server, options).catch((error) => {
    throw withHost(error, server);
  });
  server.watch(() => {
    connections.readers.drop();
    connections.writers.drop();
  });
  return connections;
}

export async function closeConnections({ server, readers, writers }: Connections): Promise<void> {
  server.close();
  await Promise.all([readers.close(), writers.close()]);
}

/** An error with the host that was tried: the driver only says “Failed to connect”, also about a host that does not exist. */
function withHost(error: unknown, { url }: Server): unknown {
  const code = codeOf(error);
  if (!code.startsWith('ERR_POSTGRES_CONNECTION_')) return error;
  return Object.assign(new Error(`${messageOf(error)} (${hostOf(url)})`, { cause: error }), { code });
}

async function createConnections(server: Server, options: PostgresOptions): Promise<Connections> {
  if (new URL(server.url).searchParams.get('prepare') !== 'false') {
    const direct = createPools(server, options, false);
    if (await keepsStartupParameters(direct.readers, options.limits)) return direct;
    direct.readers.drop();
    await closeConnections(direct);
  }
  const pooled = createPools(server, options, true);
  await pooled.readers.read`SELECT 1`;
  return pooled;
}

function createPools(server: Server, options: PostgresOptions, isPooled: boolean): Connections {
  const { limits, readersMax, writersMax, callMsMax } = options;
  const newPool = (max: number, own: SessionLimits) => {
    const connect = () =>
      new SQL({
        url: server.url,
        max,
        idleTimeout: 30,
        connectionTimeout: CONNECT_SECONDS_MAX,
        prepare: !isPooled,
        connection: { application_name: 'openpit', ...(isPooled ? {} : startupParameters(own)) },
      });
    const perTransaction = isPooled ? limitStatements(own) : undefined;
    return new PostgresPool({ connect, callMsMax, perTransaction, server });
  };
  return {
    server,
    readers: newPool(readersMax, limits),
    // Every transaction finds its rows by key. By a plan for an empty table, the undo of 5,000 days read 37 million rows.
    writers: newPool(writersMax, { ...limits, usesIndexes: true }),
  };
}

function startupParameters(limits: SessionLimits): Record<string, string | number> {
  return {
    ...settingsOf(limits),
    default_transaction_isolation: ISOLATION,
    // Never 'off': it would override a database that its operator has made read-only.
    ...(limits.isReadOnly && { default_transaction_read_only: 'on' }),
  };
}

function limitStatements(limits: SessionLimits): string {
  return [
    `SET TRANSACTION ISOLATION LEVEL ${ISOLATION}`,
    ...Object.entries(settingsOf(limits)).map(([name, value]) => `SET LOCAL ${name} = ${value}`),
    ...(limits.isReadOnly ? ['SET TRANSACTION READ ONLY'] : []),
  ].join('; ');
}

function settingsOf({ statementMs, idleInTransactionMs, usesIndexes }: SessionLimits) {
  return {
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    jit: NO_JIT,
    ...(usesIndexes && ONLY_INDEXES),
  };
}

/** PgBouncer rejects startup parameters that it does not know (SQLSTATE 08P01); other poolers ignore them. */
async function keepsStartupParameters(pool: PostgresPool, { statementMs }: SessionLimits): Promise<boolean> {
  try {
    const query = `SELECT setting FROM pg_settings WHERE name = 'statement_timeout'`;
    return asNumber(onlyRow(await pool.readUnprepared(query)).setting) === statementMs;
  } catch (error) {
    if (error instanceof Error && /startup parameter/i.test(error.message)) return false;
    throw error;
  }
}
