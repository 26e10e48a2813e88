import type { Day } from '../../market/day.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber, type Cell } from '../engine/rows.ts';
import { integers, queryNumbers } from '../engine/statements.ts';
import { originFilter } from '../symbols/origin.ts';
import { type StoredRevision, toRevision } from './bars.ts';
import type { DayRange, OriginSymbols } from './past.ts';

export interface SymbolRevision extends StoredRevision {
  symbolId: number;
}

/** Reads the revisions of bars, of many symbols with one statement. */
export class RevisionStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** All revisions of one day, by symbol and revision. */
  async ofDay({ origin, symbolIds }: OriginSymbols, day: Day): Promise<SymbolRevision[]> {
    const rows = await queryNumbers(this.#engine, (value, list) => {
      return `SELECT ${REVISION_COLUMNS} FROM bar b
        WHERE b.symbol_id IN (${list(symbolIds)}) AND b.day = ${value(day)} AND b.${originFilter(origin)}
        ORDER BY b.symbol_id, b.revision`;
    });
    return rows.map(toSymbolRevision);
  }

  /**
   * The revisions of the days that have more than one, by day, symbol and revision; the first `limit`. A day that was
   * written twice is in two changes, so the change log limits the search; without it, every bar would be read.
   */
  async revised(
    { origin, symbolIds }: OriginSymbols,
    days: DayRange,
    limit: number,
  ): Promise<SymbolRevision[]> {
    const rows = await queryNumbers(this.#engine, (value, list) => {
      return `WITH change AS (
          SELECT symbol_id, first_day, last_day, ${greatestBefore('last_day')} AS covered_to FROM bar_change
          WHERE symbol_id IN (${list(symbolIds)})
            AND first_day <= ${value(days.last)} AND last_day >= ${value(days.first)}),
        overlap AS (
          SELECT symbol_id, CASE WHEN first_day < c.first THEN c.first ELSE first_day END AS first_day,
            CASE WHEN covered_to > last_day THEN last_day ELSE covered_to END AS last_day
          FROM change, (SELECT ${integers([days.first], value)} AS first) c WHERE first_day <= covered_to),
        span AS (
          SELECT symbol_id, first_day, last_day, ${greatestBefore('last_day')} AS done_to FROM overlap),
        separate AS (
          SELECT symbol_id, CASE WHEN done_to >= first_day THEN done_to + 1 ELSE first_day END AS first_day,
            CASE WHEN last_day > c.last THEN c.last ELSE last_day END AS last_day
          FROM span, (SELECT ${integers([days.last], value)} AS last) c),
        revised AS (
          SELECT b.symbol_id, b.day FROM separate s CROSS JOIN bar b
          WHERE b.symbol_id = s.symbol_id AND b.day >= s.first_day AND b.day <= s.last_day
            AND b.${originFilter(origin)}
          GROUP BY b.symbol_id, b.day HAVING count(*) > 1 ORDER BY b.day, b.symbol_id LIMIT ${value(limit)})
        SELECT ${REVISION_COLUMNS} FROM revised r CROSS JOIN bar b
        WHERE b.symbol_id = r.symbol_id AND b.day = r.day AND b.${originFilter(origin)}
        ORDER BY b.day, b.symbol_id, b.revision LIMIT ${value(limit)}`;
    });
    return rows.map(toSymbolRevision);
  }
}

/** The greatest value of a column among the earlier spans of the same symbol; NULL for the first. */
function greatestBefore(column: string): string {
  return `max(${column}) OVER (PARTITION BY symbol_id ORDER BY first_day, last_day
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`;
}

const REVISION_COLUMNS =
  'b.symbol_id, b.day, b.revision, b.open, b.high, b.low, b.close, b.source_id, b.recorded_at, b.reason, b.withdrawn';

function toSymbolRevision([symbolId, ...revision]: readonly Cell[]): SymbolRevision {
  return {
    symbolId: asNumber(symbolId),
    ...toRevision(revision),
  };
}
