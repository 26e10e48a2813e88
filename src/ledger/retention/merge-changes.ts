import { MS_PER_DAY } from '../../market/day.ts';
import type { Engine } from '../engine/engine.ts';
import { lockRevisions, raiseHorizon } from '../engine/revisions.ts';
import { asNumber, onlyRow, type Row, type Sql } from '../engine/rows.ts';
import { listOf } from '../engine/statements.ts';
import { CHANGES_DAYS } from './rules.ts';

/** Holds the lock of price writes for a few ms. */
const CHANGES_PER_BATCH = 500;

/** Changes this close to each other become one: a month of a monthly series and some days. */
const GAP_DAYS = 40;

interface Change {
  revision: number;
  firstDay: number;
  lastDay: number;
  recordedAt: number;
  isExtended: boolean;
}

/**
 * Merges old changes of bars. A daily feed writes one change for each symbol and day, and followers need only those of the
 * last minutes. But the log also leads to days that were written twice (they lie in two changes), and bounds
 * point-in-time searches by the first day that was recorded by a moment. So changes are not deleted: those that have no
 * day in common and lie next to each other become one that covers both.
 *
 *     before   [1][2][3]   [4][5]        daily bars          after   [1 ────────── 5]
 *                 [3]                    a correction                     [3]
 *
 * The newest change, which says when a price was last written, and those of imports, which undo needs, stay as they are.
 * Yields after each batch.
 */
export async function* mergeChanges(engine: Engine, now: number): AsyncGenerator<void> {
  const before = now - CHANGES_DAYS * MS_PER_DAY;
  // Changes that have become old since the last run: those below the horizon were merged then.
  const symbols = await engine.read`SELECT DISTINCT symbol_id FROM bar_change
    WHERE revision > coalesce((SELECT value FROM counter WHERE name = 'prices-from'), 0) AND recorded_at < ${before}`;
  for (const row of symbols) {
    const symbolId = asNumber(row.symbol_id);
    for (let fromDay = Number.MIN_SAFE_INTEGER; ; ) {
      const batch = { symbolId, before, fromDay };
      const { merged, nextDay } = await engine.write((tx) => mergeBatch(engine, tx, batch));
      yield;
      if (nextDay === undefined || (nextDay === fromDay && merged === 0)) break;
      fromDay = nextDay;
    }
  }
}

/** Merges the next changes of a symbol by day. `nextDay` is where to continue; undefined after the last batch. */
async function mergeBatch(
  engine: Engine,
  tx: Sql,
  { symbolId, before, fromDay }: { symbolId: number; before: number; fromDay: number },
): Promise<{ merged: number; nextDay: number | undefined }> {
  await lockRevisions(tx, 'prices'); // another process may be merging the same changes
  const newest = onlyRow(await tx`SELECT max(revision) AS revision FROM bar_change`);
  const rows = await tx`SELECT revision, first_day, last_day, recorded_at FROM bar_change c
    WHERE symbol_id = ${symbolId} AND recorded_at < ${before} AND revision < ${asNumber(newest.revision)}
      AND first_day >= ${fromDay}
      AND NOT EXISTS (SELECT 1 FROM import_revision i WHERE i.revision = c.revision)
    ORDER BY first_day, revision LIMIT ${CHANGES_PER_BATCH}`;
  const { kept, merged } = mergeNeighbours(rows.map(toChange));
  for (const change of kept.filter(({ isExtended }) => isExtended)) {
    await tx`UPDATE bar_change SET last_day = ${change.lastDay}, recorded_at = ${change.recordedAt}
      WHERE revision = ${change.revision} AND symbol_id = ${symbolId}`;
  }
  if (merged.length > 0) {
    const { placeholder: p } = engine;
    await tx.unsafe(
      `DELETE FROM bar_change WHERE symbol_id = ${p(1)} AND revision IN (${listOf(engine, merged.length, 2)})`,
      [symbolId, ...merged],
    );
    await raiseHorizon(tx, 'prices', Math.max(...merged));
  }
  const isLast = rows.length < CHANGES_PER_BATCH;
  const nextDay = isLast ? undefined : Math.max(...kept.map(({ firstDay }) => firstDay));
  return { merged: merged.length, nextDay };
}

/** Each change, by first day, extends the first one that ends shortly before it. Two with a day in common never merge. */
function mergeNeighbours(changes: readonly Change[]): { kept: Change[]; merged: number[] } {
  const kept: Change[] = [];
  const merged: number[] = [];
  for (const change of changes) {
    const neighbour = kept.find(
      ({ lastDay }) => lastDay < change.firstDay && change.firstDay - lastDay <= GAP_DAYS,
    );
    if (!neighbour) {
      kept.push(change);
      continue;
    }
    neighbour.lastDay = change.lastDay;
    neighbour.recordedAt = Math.min(neighbour.recordedAt, change.recordedAt);
    neighbour.isExtended = true;
    merged.push(change.revision);
  }
  return { kept, merged };
}

function toChange(row: Row): Change {
  return {
    revision: asNumber(row.revision),
    firstDay: asNumber(row.first_day),
    lastDay: asNumber(row.last_day),
    recordedAt: asNumber(row.recorded_at),
    isExtended: false,
  };
}
