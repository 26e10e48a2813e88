import type { Engine } from '../engine/engine.ts';
import { asNumber, asText, onlyRow } from '../engine/rows.ts';
import { ledgerTables } from '../schema/tables.ts';

/** A PostgreSQL as its client sees it. */
export interface PostgresFacts {
  /** Such as `15.6`. */
  version: string;
  /** Such as 150006. */
  versionNumber: number;
  user: string;
  database: string;
  isStandby: boolean;
  /** Whether transactions of this user in this database are read-only unless they ask for more. */
  isReadOnly: boolean;
  /** Whether a pooler in transaction mode is between. */
  isPooled: boolean;
  /** Whether this session uses TLS; behind a pooler, that of the pooler. */
  isEncrypted: boolean;
  /** Connections that this user may have, all its programs together. */
  connectionsMax: number;
  connectionsUsed: number;
  /** Tables with the privileges that this user lacks. */
  lacking: readonly { table: string; privileges: readonly string[] }[];
}

const PRIVILEGES = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

/** Reads what matters about the server. The ledger's tables must be there. */
export async function readPostgresFacts({ read }: Engine): Promise<PostgresFacts> {
  const row = onlyRow(
    await read`SELECT
    current_setting('server_version') AS version, current_setting('server_version_num') AS version_number,
    current_user AS user_name, current_database() AS database_name,
    CAST(pg_is_in_recovery() AS INTEGER) AS standby,
    -- A direct session gets its limits as startup parameters; behind a pooler each transaction sets them.
    (SELECT CAST(source <> 'client' AS INTEGER) FROM pg_settings WHERE name = 'statement_timeout') AS pooled,
    (SELECT CAST(ssl AS INTEGER) FROM pg_stat_ssl WHERE pid = pg_backend_pid()) AS encrypted,
    (SELECT sum(CAST(setting AS INTEGER) * CASE name WHEN 'max_connections' THEN 1 ELSE -1 END) FROM pg_settings
      WHERE name IN ('max_connections', 'superuser_reserved_connections', 'reserved_connections')) AS server_max,
    (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user) AS user_max,
    (SELECT datconnlimit FROM pg_database WHERE datname = current_database()) AS database_max,
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
    (SELECT count(*) FROM pg_db_role_setting WHERE 'default_transaction_read_only=on' = ANY (setconfig)
      AND setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = current_user))
      AND setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))) AS read_only`,
  );
  const limits = [row.server_max, row.user_max, row.database_max].map(asNumber).filter((limit) => limit >= 0);
  return {
    version: asText(row.version),
    versionNumber: asNumber(row.version_number),
    user: asText(row.user_name),
    database: asText(row.database_name),
    isStandby: asNumber(row.standby) === 1,
    isReadOnly: asNumber(row.read_only) > 0,
    isPooled: asNumber(row.pooled) === 1,
    isEncrypted: asNumber(row.encrypted ?? 0) === 1,
    connectionsMax: Math.min(...limits),
    connectionsUsed: asNumber(row.used),
    lacking: await lackingPrivileges(read),
  };
}

/** The tables of the ledger with the privileges on them that this user lacks. */
export async function lackingPrivileges(read: Engine['read']): Promise<PostgresFacts['lacking']> {
  const values = (texts: readonly string[]) => texts.map((text) => `('${text}')`).join(', ');
  const rows = await read.unsafe(
    `SELECT t.name AS table_name, p.name AS privilege
     FROM (VALUES ${values(ledgerTables().map(({ name }) => name))}) AS t (name),
       (VALUES ${values(PRIVILEGES)}) AS p (name)
     WHERE NOT has_table_privilege(t.name, p.name)`,
  );
  const lacking = new Map<string, string[]>();
  for (const row of rows) {
    const table = asText(row.table_name);
    lacking.set(table, [...(lacking.get(table) ?? []), asText(row.privilege)]);
  }
  return [...lacking].map(([table, privileges]) => ({ table, privileges }));
}
