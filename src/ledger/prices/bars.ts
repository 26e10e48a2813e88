import type { Bar } from '../../market/bar.ts';
import type { Day } from '../../market/day.ts';
import { asNumber, asText, type Cell, nullable, rowReader, type Sql } from '../engine/rows.ts';
import type { PriceOrigin } from '../symbols/origin.ts';
import { SIMULATED_ID } from '../symbols/sources.ts';

/** The reason of a bar that was created at settlement, before its session ended. The bar of the session replaces it. */
export const PROVISIONAL = 'settlement';
export const SESSION_CLOSE = 'session close';
export const LATE_TICKS = 'late ticks';
/** The reasons of bars that were made of ticks. */
export const TICK_REASONS: ReadonlySet<string | null> = new Set([PROVISIONAL, SESSION_CLOSE, LATE_TICKS]);

/** Who withdrew a bar: its source (a later edition, or the undo of an import) or the operator. */
export type WithdrawnBy = 'source' | 'operator';

/**
 * One version of a day's bar. The highest revision is the current bar. When it is withdrawn, the day has no bar; that
 * revision repeats the withdrawn prices.
 */
export interface StoredRevision extends Bar {
  revision: number;
  sourceId: number;
  recordedAt: number;
  reason: string | null;
  withdrawn: WithdrawnBy | false;
}

/** A revision, with what it says about the ticks of its day. */
export interface BarRevision extends StoredRevision {
  /** The revision whose state of the day it restored, `NO_BAR` for a day without a bar; null if it restored none. */
  restores: number | null;
  /** Ticks received up to this moment, in ms, were withdrawn and do not count. Undefined if all ticks of the day count. */
  ticksWithdrawnUntil: number | undefined;
}

/** Before the first revision of a day. */
export const NO_BAR = 0;
/** Before every tick was received. */
export const ALWAYS = Number.MIN_SAFE_INTEGER;

export interface NewBar extends Bar {
  symbolId: number;
}

/** The days of a symbol that a revision changed. */
export interface BarChange {
  symbolId: number;
  firstDay: Day;
  lastDay: Day;
}

export const BAR_CHANGE = rowReader<BarChange>({ symbolId: asNumber, firstDay: asNumber, lastDay: asNumber });

/** The columns that `toRevisions` reads, in its order. */
export const REVISION_COLUMNS = [
  ...['day', 'revision', 'open', 'high', 'low', 'close'],
  ...['source_id', 'recorded_at', 'reason', 'withdrawn', 'restores'],
];

/** All revisions of one origin, or of both, by day and then by revision. */
export async function readRevisions(
  handle: Sql,
  symbolId: number,
  origin: PriceOrigin | 'all',
  firstDay: Day,
  lastDay: Day,
): Promise<BarRevision[]> {
  const rows = await handle`
    SELECT day, revision, open, high, low, close, source_id, recorded_at, reason, withdrawn, restores FROM bar
    WHERE symbol_id = ${symbolId} AND day >= ${firstDay} AND day <= ${lastDay}
    ORDER BY day, revision`.values();
  return toRevisions(rows, origin);
}

/** The rows of one symbol's days, ordered by day and then by revision, without those of the other origin. */
export function toRevisions(rows: readonly (readonly Cell[])[], origin: PriceOrigin | 'all'): BarRevision[] {
  const found: BarRevision[] = [];
  for (const row of rows) {
    const isSimulated = asNumber(row[6]) === SIMULATED_ID;
    if (origin !== 'all' && isSimulated !== (origin === 'simulated')) continue;
    const stored = toRevision(row);
    const restores = readRestores(row[10]);
    const ticksWithdrawnUntil = isSimulated ? undefined : withdrawnUntil(stored, restores, found);
    found.push(Object.assign(stored, { restores, ticksWithdrawnUntil })); // not a copy: bars are read by the million
  }
  return found;
}

/**
 * A withdrawal hides the ticks that were received before it. It stays in force when new ticks make a bar, and ends when the
 * state before it is restored. A revision that restores a day without a bar hides what was hidden in that state, no more.
 *
 * Bars that were restored by a program before schema 21 are not marked and count as new bars. A late tick may then be missing
 * from such a bar, but no withdrawn price is published again. Its ticks are deleted after a week anyway.
 */
function withdrawnUntil(
  { day, withdrawn, recordedAt }: StoredRevision,
  restores: number | null,
  earlier: readonly BarRevision[],
): number | undefined {
  if (withdrawn && restores === null) return recordedAt;
  for (let i = earlier.length - 1; i >= 0 && earlier[i]!.day === day; i--) {
    const { revision, sourceId, ticksWithdrawnUntil } = earlier[i]!;
    const isBefore = restores === null ? sourceId !== SIMULATED_ID : revision === restores;
    if (isBefore) return ticksWithdrawnUntil;
  }
  return undefined;
}

/**
 * The same moment as an SQL expression; NULL if all ticks count. `day` is the alias of a row with `symbol_id` and `day`. Only
 * revisions that satisfy `isVisible`, a condition on an alias of `bar`, are considered.
 */
export function withdrawnUntilSql(day: string, isVisible: (bar: string) => string = () => 'true'): string {
  const ofDay = (bar: string) =>
    `${bar}.symbol_id = ${day}.symbol_id AND ${bar}.day = ${day}.day AND ${isVisible(bar)}`;
  return `(SELECT w.recorded_at FROM bar w WHERE ${ofDay('w')} AND w.withdrawn > 0 AND w.restores IS NULL
    AND NOT EXISTS (SELECT 1 FROM bar r WHERE ${ofDay('r')} AND r.revision > w.revision AND r.restores < w.revision)
    ORDER BY w.revision DESC LIMIT 1)`;
}

/** A revision without what matters only until its session is over, as the raw row: a long history has more than ten thousand. */
export type SettledBarRow = readonly [
  day: Day,
  open: number,
  high: number,
  low: number,
  close: number,
  sourceId: number,
  /** 0, or who withdrew it. */
  withdrawn: number,
];

/** The revisions of days whose sessions are over, in the order of `readRevisions`, with fewer cells to decode. */
export async function readHistory(
  handle: Sql,
  symbolId: number,
  origin: PriceOrigin,
  firstDay: Day,
  lastDay: Day,
): Promise<SettledBarRow[]> {
  const rows = await handle`
    SELECT day, open, high, low, close, source_id, withdrawn FROM bar
    WHERE symbol_id = ${symbolId} AND day >= ${firstDay} AND day <= ${lastDay}
    ORDER BY day, revision`.values();
  const isOfOrigin = (row: SettledBarRow) => (row[5] === SIMULATED_ID) === (origin === 'simulated');
  return (rows as unknown as SettledBarRow[]).filter(isOfOrigin);
}

/** Reads a row with the first columns of `readRevisions`, in its order. Bars are read by the million, so their rows are arrays. */
export function toRevision(row: readonly Cell[]): StoredRevision {
  const [day, revision, open, high, low, close, sourceId, recordedAt, reason, withdrawn] = row;
  return {
    day: asNumber(day),
    revision: asNumber(revision),
    open: asNumber(open),
    high: asNumber(high),
    low: asNumber(low),
    close: asNumber(close),
    sourceId: asNumber(sourceId),
    recordedAt: asNumber(recordedAt),
    reason: readReason(reason),
    withdrawn: WITHDRAWN[asNumber(withdrawn)] ?? false,
  };
}

const readReason = nullable(asText);
const readRestores = nullable(asNumber);

/** By the number in the column `withdrawn`. */
export const WITHDRAWN: readonly (WithdrawnBy | false)[] = [false, 'source', 'operator'];
