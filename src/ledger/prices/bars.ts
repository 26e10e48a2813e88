import { type Bar, sameOhlc } from '../../market/bar.ts';
import type { Day } from '../../market/day.ts';
import { asNumber, asText, type Cell, nullable, rowReader, type Sql } from '../engine/rows.ts';
import type { PriceOrigin, TradingDay } from '../symbols/origin.ts';
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
export interface BarRevision extends Bar {
  revision: number;
  sourceId: number;
  recordedAt: number;
  reason: string | null;
  withdrawn: WithdrawnBy | false;
}

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

/** All revisions of one origin, or of both, by day and then by revision. */
export async function readRevisions(
  handle: Sql,
  symbolId: number,
  origin: PriceOrigin | 'all',
  firstDay: Day,
  lastDay: Day,
): Promise<BarRevision[]> {
  const rows = await handle`
    SELECT day, revision, open, high, low, close, source_id, recorded_at, reason, withdrawn FROM bar
    WHERE symbol_id = ${symbolId} AND day >= ${firstDay} AND day <= ${lastDay}
    ORDER BY day, revision`.values();
  const found: BarRevision[] = [];
  for (const row of rows) {
    const isSimulated = asNumber(row[6]) === SIMULATED_ID;
    if (origin === 'all' || isSimulated === (origin === 'simulated')) found.push(toRevision(row));
  }
  return found;
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

/** When the bar of a trade date was last withdrawn, in ms; undefined if it never was. Ticks received up to then do not count. */
export async function lastWithdrawal(
  handle: Sql,
  { symbolId, origin, day }: TradingDay,
): Promise<number | undefined> {
  const revisions = await readRevisions(handle, symbolId, origin, day, day);
  return revisions.findLast(({ withdrawn }) => withdrawn)?.recordedAt;
}

/**
 * The withdrawal that still hides ticks of a day, by the day's revisions. Undefined if there is none, or if it was taken back: the
 * revision after it then repeats an earlier bar.
 */
export function standingWithdrawal(versions: readonly BarRevision[]): BarRevision | undefined {
  const last = versions.findLastIndex(({ withdrawn }) => withdrawn);
  const next = versions[last + 1];
  const repeats = (one: BarRevision) => one.sourceId === next?.sourceId && sameOhlc(one, next);
  const isTakenBack = next !== undefined && versions.slice(0, Math.max(last, 0)).some(repeats);
  return isTakenBack ? undefined : versions[last];
}

/** Reads a row with the columns of `readRevisions`, in its order. Bars are read by the million, so their rows are arrays. */
export function toRevision(row: readonly Cell[]): BarRevision {
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

/** By the number in the column `withdrawn`. */
export const WITHDRAWN: readonly (WithdrawnBy | false)[] = [false, 'source', 'operator'];
