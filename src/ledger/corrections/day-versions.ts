import type { Day } from '../../market/day.ts';
import { asNumber, type Sql } from '../engine/rows.ts';
import { type BarRevision, readRevisions, standingWithdrawal } from '../prices/bars.ts';

/**
 * One version of a day's real bar. `origin` is the revision that first published it: an earlier one if this revision
 * restored that.
 *
 *     revision   1      2      3      4 restores 2   5 restores 1
 *     close      5      6      7      6              5
 *     origin     1      2      3      2              1
 */
export interface DayVersion extends BarRevision {
  origin: number;
  /** That hid ticks of the day while this version was current. */
  withdrawal: BarRevision | undefined;
}

/** The versions of each day, by revision. */
export async function readVersions(
  handle: Sql,
  symbolId: number,
  firstDay: Day,
  lastDay: Day,
): Promise<Map<Day, DayVersion[]>> {
  const revisions = await readRevisions(handle, symbolId, 'real', firstDay, lastDay);
  const rows = await handle`SELECT day, revision, restores FROM bar
    WHERE symbol_id = ${symbolId} AND day >= ${firstDay} AND day <= ${lastDay} AND restores IS NOT NULL`;
  const restored = new Map(
    rows.map((row) => [`${asNumber(row.day)} ${asNumber(row.revision)}`, asNumber(row.restores)]),
  );
  const byDay = new Map<Day, DayVersion[]>();
  for (const [day, all] of Map.groupBy(revisions, (bar) => bar.day)) {
    const versions = all.map((bar, i) => {
      const origin = restored.get(`${day} ${bar.revision}`) ?? bar.revision;
      return { ...bar, origin, withdrawal: standingWithdrawal(all.slice(0, i + 1)) };
    });
    byDay.set(day, versions);
  }
  return byDay;
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
