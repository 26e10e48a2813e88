import type { ColumnTypes, RowStatement } from '../engine.ts';
import { outageReason } from '../errors.ts';
import { asNumber, type Cell, onlyRow, optional, type RowValues, type Sql } from '../rows.ts';
import type { PostgresPool } from './pool.ts';

/**
 * The first part of the name of the current WAL file. A standby has none; it records its timeline at checkpoints, so it
 * may report an older one for some minutes after a failover.
 */
const TIMELINE = `'-' || CASE
  WHEN pg_is_in_recovery() THEN (SELECT upper(lpad(to_hex(greatest(c.timeline_id, r.min_recovery_end_timeline)), 8, '0'))
    FROM pg_control_checkpoint() c, pg_control_recovery() r)
  ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END`;

/**
 * The SQL expression for the timeline. Some managed services lack its functions. There, only a lower counter reveals a
 * failover that lost writes.
 */
export async function timelineExpression(readers: PostgresPool): Promise<string> {
  try {
    await readers.readUnprepared(`SELECT ${TIMELINE} AS timeline`);
    return TIMELINE;
  } catch (error) {
    if (outageReason(error) !== undefined) throw error;
    return `''`;
  }
}

/**
 * All rows are one parameter, which the statement reads as a table. As JSONB, because JSON would be parsed again for each cell.
 * Sends the statement now, not when it is awaited.
 */
export function forRows(
  handle: Sql,
  columns: ColumnTypes,
  rows: readonly RowValues[],
  text: RowStatement,
): Promise<Cell[][]> {
  const cells = Object.entries(columns).map(
    ([name, type], i) => `CAST(row.value ->> ${i} AS ${type}) AS ${name}`,
  );
  const elements = 'jsonb_array_elements(CAST(CAST($1 AS TEXT) AS JSONB)) AS row (value)';
  const table = `(SELECT ${cells.join(', ')} FROM ${elements}) AS n`;
  const from = `FROM ${table}`;
  const fromWith = (other: string) => `${from} CROSS JOIN ${other}`;
  const fromEach = (subquery: string) => `${from} CROSS JOIN LATERAL ${subquery}`;
  const statement = text({ cell: (column) => `n.${column}`, from, fromWith, fromEach, table });
  const query = handle.unsafe(statement, [JSON.stringify(rows)]);
  const found = query.values();
  query.execute();
  return found;
}

/** COPY is about twice as fast as INSERT. */
export async function copyRows(tx: Sql, into: string, rows: readonly RowValues[]): Promise<void> {
  const writer = tx.unsafe(`COPY ${into} FROM STDIN (FORMAT csv)`).writable().getWriter();
  await writer.write(rows.map(csvLine).join(''));
  await writer.close();
}

/** An empty cell means NULL; text is always quoted, so an empty text is not NULL. */
function csvLine(row: RowValues): string {
  const cells = row.map((cell) =>
    typeof cell === 'string' ? `"${cell.replaceAll('"', '""')}"` : (cell ?? ''),
  );
  return `${cells.join(',')}\n`;
}

export async function hasTable(handle: Sql, name: string): Promise<boolean> {
  const rows = await handle`SELECT 1 WHERE to_regclass(${name}) IS NOT NULL`;
  return rows.length > 0;
}

/** The server's time, in ms. */
export async function serverTime(handle: Sql): Promise<number> {
  const row = onlyRow(
    await handle`SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS ms`,
  );
  return asNumber(row.ms);
}

/** See `Engine.replayedAt`. */
export async function replayedAt(read: Sql): Promise<number> {
  const row = onlyRow(
    await read`SELECT CASE WHEN pg_is_in_recovery() THEN 1 ELSE 0 END AS standby,
      CAST(extract(epoch FROM pg_last_xact_replay_timestamp()) * 1000 AS BIGINT) AS ms`,
  );
  if (asNumber(row.standby) === 0) return Number.POSITIVE_INFINITY;
  return optional(asNumber)(row.ms) ?? Number.NEGATIVE_INFINITY; // nothing replayed since it was started
}
