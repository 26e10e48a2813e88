import type { Day } from '../../market/day.ts';
import type { Engine } from '../engine/engine.ts';
import { SIMULATED_ID } from '../symbols/sources.ts';

/** The range of days on which a symbol has prices, read without its history. Real prices take precedence over simulated. */
export interface DateRow {
  symbolId: number;
  /** The first and the last day before the cutoff with a bar; `isWithdrawn` if one of them was withdrawn. */
  firstDay: Day | undefined;
  lastDay: Day | undefined;
  isWithdrawn: boolean;
  /** The first and the last day that have ticks. */
  firstTickDay: Day | undefined;
  lastTickDay: Day | undefined;
}

/** One revision of a bar on or after the cutoff. */
export interface RecentBarRow {
  symbolId: number;
  day: Day;
  recordedAt: number;
  isWithdrawn: boolean;
}

/** A day on or after the cutoff that has ticks. */
export interface RecentTickRow {
  symbolId: number;
  day: Day;
  /** When its first tick was both made and received; undefined if that cannot be told from a few ticks. */
  seenFrom: number | undefined;
}

export interface DatePage {
  rows: DateRow[];
  bars: RecentBarRow[];
  ticks: RecentTickRow[];
}

/** Few enough that PostgreSQL reads them from the index without statistics, instead of sorting the whole day. */
const TICKS_LOOKED_AT = 4;

/** Reads the dates of symbols with ids in (after, upTo]: three statements of index lookups, for histories of any length. */
export async function readDatePage(
  { read, placeholder: p }: Engine,
  after: number,
  upTo: number,
  cutoff: Day,
): Promise<DatePage> {
  const ofOrigin = (alias: string) =>
    `(${alias}.source_id <> ${SIMULATED_ID}) = (s.real_revision IS NOT NULL)`;
  // Day and flag in one number, because a subquery returns one column. `toDateRow` separates them.
  const edge = (order: string, n: number) =>
    `(SELECT b.day * 4 + b.withdrawn FROM bar b WHERE b.symbol_id = s.id AND ${ofOrigin('b')} AND b.day < ${p(n)}
       ORDER BY ${order} LIMIT 1)`;
  const edges: Promise<unknown[][]> = read
    .unsafe(
      `SELECT s.id, ${edge('b.day, b.revision DESC', 1)}, ${edge('b.day DESC, b.revision DESC', 2)},
         (SELECT min(t.day) FROM tick t WHERE t.symbol_id = s.id),
         (SELECT max(t.day) FROM tick t WHERE t.symbol_id = s.id)
       FROM symbol s WHERE s.id > ${p(3)} AND s.id <= ${p(4)}`,
      [cutoff, cutoff, after, upTo],
    )
    .values();
  const bars: Promise<unknown[][]> = read
    .unsafe(
      `SELECT b.symbol_id, b.day, b.recorded_at, b.withdrawn FROM symbol s CROSS JOIN bar b
       WHERE b.symbol_id = s.id AND b.day >= ${p(1)} AND s.id > ${p(2)} AND s.id <= ${p(3)} AND ${ofOrigin('b')}`,
      [cutoff, after, upTo],
    )
    .values();
  const few = `SELECT t.at, t.received FROM tick t
    WHERE t.symbol_id = f.symbol_id AND t.day = f.day AND (t.source_id <> ${SIMULATED_ID}) = (f.is_real = 1)
    ORDER BY t.at LIMIT ${TICKS_LOOKED_AT}`;
  const ticks: Promise<unknown[][]> = read
    .unsafe(
      `WITH RECURSIVE found (symbol_id, is_real, day) AS (
         SELECT s.id, CASE WHEN s.real_revision IS NULL THEN 0 ELSE 1 END,
           (SELECT min(t.day) FROM tick t WHERE t.symbol_id = s.id AND t.day >= ${p(1)})
         FROM symbol s WHERE s.id > ${p(2)} AND s.id <= ${p(3)}
         UNION ALL
         SELECT symbol_id, is_real, (SELECT min(t.day) FROM tick t WHERE t.symbol_id = found.symbol_id AND t.day > found.day)
         FROM found WHERE found.day IS NOT NULL)
       SELECT f.symbol_id, f.day,
         (SELECT min(CASE WHEN x.at > x.received THEN x.at ELSE x.received END) || ' ' || max(x.at) || ' ' || count(*) FROM (${few}) x)
       FROM found f WHERE f.day IS NOT NULL`,
      [cutoff, after, upTo],
    )
    .values();
  const [edgeRows, barRows, tickRows] = await Promise.all([edges, bars, ticks]);
  return {
    rows: edgeRows.map(toDateRow),
    bars: barRows.map(toBarRow),
    ticks: tickRows.filter(hasTicks).map(toTickRow),
  };
}

function toDateRow([id, first, last, firstTick, lastTick]: unknown[]): DateRow {
  return {
    symbolId: Number(id),
    firstDay: first === null ? undefined : Math.floor(Number(first) / 4),
    lastDay: last === null ? undefined : Math.floor(Number(last) / 4),
    // Days before 1970 are negative, and so is their remainder.
    isWithdrawn: [first, last].some((edge) => edge !== null && ((Number(edge) % 4) + 4) % 4 > 0),
    firstTickDay: firstTick === null ? undefined : Number(firstTick),
    lastTickDay: lastTick === null ? undefined : Number(lastTick),
  };
}

function toBarRow([symbolId, day, recordedAt, withdrawn]: unknown[]): RecentBarRow {
  return {
    symbolId: Number(symbolId),
    day: Number(day),
    recordedAt: Number(recordedAt),
    isWithdrawn: Number(withdrawn) > 0,
  };
}

/** A day may have ticks of the other origin only. */
function hasTicks([, , looked]: unknown[]): boolean {
  return looked !== null;
}

/** Ticks that were not read were made after `lastAt`, and are visible no earlier than that. */
function toTickRow([symbolId, day, looked]: unknown[]): RecentTickRow {
  const [seenFrom, lastAt, count] = String(looked).split(' ').map(Number) as [number, number, number];
  const isSure = count < TICKS_LOOKED_AT || seenFrom <= lastAt;
  return { symbolId: Number(symbolId), day: Number(day), seenFrom: isSure ? seenFrom : undefined };
}
