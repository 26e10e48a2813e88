import { type Day, FIRST_DAY, LAST_DAY } from '../../market/day.ts';
import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber } from '../engine/rows.ts';
import type { SymbolDay } from '../symbols/origin.ts';

/** More than any transaction writes under one revision. */
const TICKS_PER_PAGE = 5_000;
/** A million ticks. Beyond that, scanning all days with ticks is cheaper than scanning the ticks. */
const PAGES_MAX = 200;
const SYMBOLS_PER_PAGE = 500;

/** Finds the days that have ticks by index, in bounded pages. */
export class TickDays {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** The days of the ticks with revisions in (after, upTo]; undefined when there are too many. */
  async changed(after: number, upTo: number): Promise<SymbolDay[] | undefined> {
    const found = new Map<string, SymbolDay>();
    let seen = after;
    for (let page = 0; page < PAGES_MAX; page++) {
      if (shouldYield()) await yieldToRequests();
      // The upper bound is outside the page: with both, PostgreSQL sorts all of these ticks while it has no statistics.
      const rows = await this.#engine.read`
        SELECT symbol_id, day, revision FROM (
          SELECT symbol_id, day, revision FROM tick WHERE revision > ${seen} ORDER BY revision LIMIT ${TICKS_PER_PAGE}) page
        WHERE revision <= ${upTo} ORDER BY revision`.values();
      for (const [symbolId, day] of rows) {
        found.set(`${symbolId} ${day}`, { symbolId: asNumber(symbolId), day: asNumber(day) });
      }
      if (rows.length < TICKS_PER_PAGE) return [...found.values()];
      const last = asNumber(rows.at(-1)![2]) - 1; // the page may end in the middle of a revision
      if (last <= seen) return undefined;
      seen = last;
    }
    return undefined;
  }

  /** Every day from `first` to `last` that has ticks, in pages: skips through the index from day to day. */
  async *list(first: Day = FIRST_DAY, last: Day = LAST_DAY): AsyncGenerator<SymbolDay[]> {
    const { read, placeholder: p } = this.#engine;
    for (let after = 0; ; ) {
      if (shouldYield()) await yieldToRequests();
      const ids =
        await read`SELECT id FROM symbol WHERE id > ${after} ORDER BY id LIMIT ${SYMBOLS_PER_PAGE}`.values();
      if (ids.length === 0) return;
      const upTo = asNumber(ids.at(-1)![0]);
      const rows = await read
        .unsafe(
          `WITH RECURSIVE found (symbol_id, day) AS (
             SELECT s.id, (SELECT min(t.day) FROM tick t WHERE t.symbol_id = s.id AND t.day >= ${p(1)})
             FROM symbol s WHERE s.id > ${p(2)} AND s.id <= ${p(3)}
             UNION ALL
             SELECT f.symbol_id, (SELECT min(t.day) FROM tick t WHERE t.symbol_id = f.symbol_id AND t.day > f.day)
             FROM found f WHERE f.day IS NOT NULL AND f.day < ${p(4)})
           SELECT symbol_id, day FROM found WHERE day IS NOT NULL AND day <= ${p(5)}`,
          [first, after, upTo, last, last],
        )
        .values();
      yield rows.map(([symbolId, day]) => ({
        symbolId: asNumber(symbolId),
        day: asNumber(day),
      }));
      after = upTo;
    }
  }
}
