import type { Engine } from '../engine/engine.ts';
import { readMeta } from '../engine/meta.ts';
import type { RowValues } from '../engine/rows.ts';
import { insertRows } from '../engine/statements.ts';
import { prepareSchema } from '../schema/schema.ts';
import type { LedgerTable } from '../schema/tables.ts';
import { type MoveMarker, readMarker, writeMarker } from './marker.ts';

/** Makes the target ready and returns where to start copying. It must be empty, or an interrupted move of this source. */
export async function openTarget(
  target: Engine,
  origin: MoveMarker,
  tables: readonly LedgerTable[],
  note: (text: string) => void,
): Promise<MoveMarker> {
  if (!(await target.hasTable(target.read, 'migration'))) return startTarget(target, origin);
  const marker = await readMarker(target.read);
  if (!marker) {
    // Without its catalogue a ledger has never been opened: an earlier move was interrupted before its marker.
    if ((await readMeta(target.read, 'catalog')) === undefined) return startTarget(target, origin);
    throw new Error('the target holds a ledger already: move to an empty database or to a new file');
  }
  if (marker.epoch !== origin.epoch) {
    throw new Error(
      'the target holds an unfinished move of another ledger: move to an empty database or to a new file',
    );
  }
  if (marker.prices === origin.prices && marker.accounts === origin.accounts) return marker;
  note('the source has changed since the move was interrupted: starting over');
  return resetTarget(target, origin, tables);
}

/** Drops everything that was copied, and prepares the target again. */
export async function resetTarget(
  target: Engine,
  origin: MoveMarker,
  tables: readonly LedgerTable[],
): Promise<MoveMarker> {
  await target.write(async (tx) => {
    for (const { name } of tables.toReversed()) await tx.unsafe(`DROP TABLE IF EXISTS ${name}`);
  }, true);
  return startTarget(target, origin);
}

/** Creates the schema, without the rows of a new ledger, and marks it. */
async function startTarget(target: Engine, origin: MoveMarker): Promise<MoveMarker> {
  await prepareSchema(target, 'upgrade');
  await target.write(async (tx) => {
    await target.lockForMigration(tx); // a process that opens it at this moment would fill in the catalogue
    await tx`DELETE FROM counter`;
    await writeMarker(tx, origin);
  }, true);
  return origin;
}

/**
 * Replaces `meta` and `migration` by those of the source and removes the marker, in one transaction: from here on the
 * target is a ledger. Its epoch is new, because the source may be used again: replicas and cached responses must never
 * take one for the other.
 */
export async function completeTarget(
  target: Engine,
  meta: readonly RowValues[],
  migrations: readonly RowValues[],
): Promise<void> {
  await target.write(async (tx) => {
    await tx`DELETE FROM meta`;
    await insertRows(target, tx, 'meta (name, value)', [...meta, ['epoch', crypto.randomUUID()]]);
    await tx`DELETE FROM migration`;
    await insertRows(target, tx, 'migration (id, title)', migrations);
  });
  await target.flush();
}
