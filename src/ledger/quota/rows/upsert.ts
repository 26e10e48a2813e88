import type { ColumnTypes, Engine } from '../../engine/engine.ts';
import type { RowValues, Sql } from '../../engine/rows.ts';

/** A table, and the columns that are written. */
export interface UpsertTarget {
  name: string;
  key: readonly string[];
  types: ColumnTypes;
}

/** Inserts rows, or overwrites those with the same key. */
export async function upsert(
  engine: Engine,
  tx: Sql,
  { name: table, key, types }: UpsertTarget,
  rows: readonly RowValues[],
): Promise<void> {
  if (rows.length === 0) return;
  const columns = Object.keys(types);
  const changes = columns.filter((name) => !key.includes(name)).map((name) => `${name} = excluded.${name}`);
  await engine.forRows(
    tx,
    types,
    rows,
    (
      n,
    ) => `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${columns.map(n.cell).join(', ')} ${n.from} WHERE true
     ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${changes.join(', ')}`,
  );
}

/** Updates rows that exist. */
export async function update(
  engine: Engine,
  tx: Sql,
  { name: table, key, types }: UpsertTarget,
  rows: readonly RowValues[],
): Promise<void> {
  if (rows.length === 0) return;
  const changes = Object.keys(types).filter((name) => !key.includes(name));
  await engine.forRows(
    tx,
    types,
    rows,
    (n) => `UPDATE ${table} SET ${changes.map((name) => `${name} = ${n.cell(name)}`).join(', ')} ${n.from}
     WHERE ${key.map((name) => `${table}.${name} = ${n.cell(name)}`).join(' AND ')}`,
  );
}
