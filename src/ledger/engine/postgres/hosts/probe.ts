import { SQL } from 'bun';

/** The state of one of several servers. */
export interface HostState {
  url: string;
  /** Whether it is a primary. A standby is in recovery. */
  isPrimary: boolean;
  /** Every promotion starts a new timeline. 0 if the server does not report it. */
  timeline: number;
  /** The same on a primary and its standbys. Empty if the server does not report it. */
  systemId: string;
}

export interface Unreachable {
  url: string;
  error: unknown;
}

/** Together with the pause before the next attempt, less than the 5 s in which the service recovers. */
const PROBE_MS_MAX = 2_000;

/** Asks one server whether it is the primary, on a separate connection. */
export async function probeHost(url: string): Promise<HostState | Unreachable> {
  const sql = new SQL({
    url,
    max: 1,
    connectionTimeout: PROBE_MS_MAX / 1_000,
    prepare: false,
    connection: { application_name: 'openpit probe' },
  });
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new NoAnswer(`no answer in ${PROBE_MS_MAX} ms`)), PROBE_MS_MAX);
  try {
    return await Promise.race([readState(url, sql), late.promise]);
  } catch (error) {
    return { url, error };
  } finally {
    clearTimeout(timer);
    sql.close({ timeout: 0 }).catch(() => {}); // nothing is left to close
  }
}

export function isReachable(state: HostState | Unreachable): state is HostState {
  return 'isPrimary' in state;
}

/** The connection hangs. `outageReason` recognizes the code. */
class NoAnswer extends Error {
  readonly code = 'ETIMEDOUT';
}

async function readState(url: string, sql: SQL): Promise<HostState> {
  const [row] = await sql.unsafe('SELECT pg_is_in_recovery() AS "isStandby"').simple();
  const isPrimary = !row.isStandby;
  return { url, isPrimary, ...(isPrimary ? await readIdentity(sql) : { timeline: 0, systemId: '' }) };
}

/** Some managed services lack these functions. There, an old primary cannot be told from the new one. */
async function readIdentity(sql: SQL): Promise<{ timeline: number; systemId: string }> {
  try {
    const [row] = await sql
      .unsafe(
        `SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS timeline,
           (SELECT system_identifier FROM pg_control_system())::text AS "systemId"`,
      )
      .simple();
    return { timeline: Number.parseInt(row.timeline, 16), systemId: row.systemId };
  } catch {
    return { timeline: 0, systemId: '' };
  }
}
