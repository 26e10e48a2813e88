import type { AuditLog } from '../audit/audit-log.ts';
import type { Engine } from '../engine/engine.ts';
import { nextRevision, raiseHorizon } from '../engine/revisions.ts';
import { asNumber, asText, onlyRow, type Sql } from '../engine/rows.ts';
import { deleteSome, deleteWithin, tablesWith } from '../schema/delete-rows.ts';
import type { LedgerTable } from '../schema/tables.ts';

/** The status of a symbol whose rows are being deleted. It is neither listed nor served, and accepts no prices. */
export const DELETED = 'deleted';

/** The counter of the last assigned symbol id. Ids are never reused. */
export const LAST_SYMBOL_ID = 'last-symbol-id';

/** What is deleted with a symbol. */
export interface SymbolContent {
  bars: number;
  ticks: number;
}

/**
 * Marks a symbol as deleted: replicas stop serving it when they next poll the ledger. `deleteMarked` then deletes its
 * rows, in the background. Returns false when the symbol does not exist.
 */
export function markDeleted(engine: Engine, audit: AuditLog, symbolId: number): Promise<boolean> {
  return engine.write(async (tx) => {
    const revision = await nextRevision(tx, 'prices');
    const [marked] = await tx`UPDATE symbol SET status = ${DELETED}, revision = ${revision}
      WHERE id = ${symbolId} RETURNING code, name`;
    if (!marked) return false;
    await tx`DELETE FROM alias WHERE symbol_id = ${symbolId}`;
    const details = { name: marked.name };
    await audit.record(tx, { action: 'symbol.delete', target: asText(marked.code), details });
    return true;
  });
}

/** Deletes one batch of rows of a marked symbol, and finally the symbol. Returns 0 when none is marked. */
export async function deleteMarked(engine: Engine): Promise<number> {
  const [marked] = await engine.read`SELECT id FROM symbol WHERE status = ${DELETED} ORDER BY id LIMIT 1`;
  if (!marked) return 0;
  const id = asNumber(marked.id);
  const tables = tablesWith('symbol_id');
  for (const table of tables) {
    const deleted = await deleteSome(engine, table, 'symbol_id', id);
    if (deleted > 0) return deleted;
  }
  await engine.write((tx) => deleteSymbolRow(engine, tx, tables, id));
  return 1;
}

async function deleteSymbolRow(
  engine: Engine,
  tx: Sql,
  tables: readonly LedgerTable[],
  id: number,
): Promise<void> {
  const revision = await nextRevision(tx, 'prices');
  // Price writes are serialized by revision, so rows that a replica wrote before it saw the mark are visible now.
  for (const table of tables) while ((await deleteWithin(engine, tx, table, 'symbol_id', id)) > 0);
  await tx`INSERT INTO counter (name, value) VALUES (${LAST_SYMBOL_ID}, (SELECT max(id) FROM symbol))
    ON CONFLICT (name) DO UPDATE SET value =
      CASE WHEN excluded.value > counter.value THEN excluded.value ELSE counter.value END`;
  await tx`DELETE FROM symbol WHERE id = ${id}`;
  await raiseHorizon(tx, 'prices', revision);
}

/** How much would be deleted. */
export async function contentOf(engine: Engine, symbolId: number): Promise<SymbolContent> {
  const row = onlyRow(
    await engine.read`SELECT
    (SELECT count(*) FROM bar WHERE symbol_id = ${symbolId}) AS bars,
    (SELECT count(*) FROM tick WHERE symbol_id = ${symbolId}) AS ticks`,
  );
  return { bars: asNumber(row.bars), ticks: asNumber(row.ticks) };
}
