import type { Day } from '../../market/day.ts';
import { asNumber, type Sql } from '../engine/rows.ts';
import { type BarRevision, readRevisions } from '../prices/bars.ts';

/**
 * One version of a day's real bar. `origin` is the revision that first published its state: an earlier one if this revision
 * restored that, possibly with later ticks, and `NO_BAR` if it restored a day without a bar.
 *
 *     revision   1      2      3      4 restores 2   5 restores 1
 *     close      5      6      7      6              5
 *     origin     1      2      3      2              1
 */
export interface DayVersion extends BarRevision {
  origin: number;
}

/** The versions of each day, by revision. */
export async function readVersions(
  handle: Sql,
  symbolId: number,
  firstDay: Day,
  lastDay: Day,
): Promise<Map<Day, DayVersion[]>> {
  const revisions = await readRevisions(handle, symbolId, 'real', firstDay, lastDay);
  const versions = revisions.map((bar) => ({ ...bar, origin: bar.restores ?? bar.revision }));
  return Map.groupBy(versions, ({ day }) => day);
}

/** The version that a day had before another one was first published, without those of `skipped` revisions. */
export function versionBefore(
  versions: readonly DayVersion[],
  version: DayVersion,
  skipped: ReadonlySet<number>,
): DayVersion | undefined {
  let before: DayVersion | undefined = version;
  do {
    const { origin }: DayVersion = before;
    before = versions.findLast(({ revision }) => revision < origin);
  } while (before && skipped.has(before.origin));
  return before;
}

/** The revisions that undone imports had written. What they published is never restored. */
export async function undoneRevisions(handle: Sql): Promise<Set<number>> {
  const rows = await handle`SELECT i.revision FROM import_revision i JOIN import_run r ON r.number = i.run
    WHERE r.undone IS NOT NULL`;
  return new Set(rows.map((row) => asNumber(row.revision)));
}
