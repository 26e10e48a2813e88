import type { Engine } from '../engine/engine.ts';
import type { Sql } from '../engine/rows.ts';
import { listOf } from '../engine/statements.ts';
import { type LedgerTable, ledgerTables } from './tables.ts';

/** About 10 ms: a push does not wait longer for SQLite's write lock. */
const ROWS_PER_BATCH = 1_000;

/** The tables that have a column, dependents before what they refer to. A table that a later migration adds is among them. */
export function tablesWith(column: string): LedgerTable[] {
  return ledgerTables()
    .filter(({ columns }) => columns.some(({ name }) => name === column))
    .toReversed();
}

/** Deletes up to 1,000 rows of a table that belong to one owner, in a short transaction. Returns how many. */
export function deleteSome(
  engine: Engine,
  table: LedgerTable,
  column: string,
  owner: string | number,
): Promise<number> {
  return table.key.includes(column)
    ? engine.write((tx) => deleteWithin(engine, tx, table, column, owner))
    : deleteFound(engine, table, column, owner);
}

/** For a table whose key says nothing of the owner: the rows are looked for before the write lock is taken. */
async function deleteFound(
  engine: Engine,
  { name, key }: LedgerTable,
  column: string,
  owner: string | number,
): Promise<number> {
  const [id] = key;
  const find = `SELECT ${id} AS id FROM ${name} WHERE ${column} = ${engine.placeholder(1)} LIMIT ${ROWS_PER_BATCH}`;
  const rows = await engine.read.unsafe(find, [owner]);
  if (rows.length === 0) return 0;
  await engine.write((tx) =>
    tx.unsafe(
      `DELETE FROM ${name} WHERE ${id} IN (${listOf(engine, rows.length)})`,
      rows.map((row) => row.id),
    ),
  );
  return rows.length;
}

/** The same within a transaction that is already open. */
export async function deleteWithin(
  { placeholder }: Engine,
  tx: Sql,
  { name, key }: LedgerTable,
  column: string,
  owner: string | number,
): Promise<number> {
  const keys = key.join(', ');
  const deleted = await tx.unsafe(
    `DELETE FROM ${name} WHERE (${keys}) IN (
       SELECT ${keys} FROM ${name} WHERE ${column} = ${placeholder(1)} LIMIT ${ROWS_PER_BATCH})
     RETURNING 1`,
    [owner],
  );
  return deleted.length;
}
