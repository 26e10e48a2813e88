import { MS_PER_DAY } from '../../market/day.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber, type Sql } from '../engine/rows.ts';
import { originFilter, type TradingDay } from '../symbols/origin.ts';
import { type MarkedDay, markDays, unmark } from './mark-days.ts';

/** Ticks are kept this long after their session and the longest delay, for late ticks and restarted replicas. */
export const TICKS_KEPT_MS = 7 * MS_PER_DAY;

/**
 * Deletes the ticks of days in bounded batches. Days are marked first: from then on their ticks are incomplete, and neither
 * views nor the closer use them. The next batch is always of the day whose remaining ticks are the oldest:
 *
 *     at      ──────────────────────────►
 *     gold    [ 1 ][ 3   ][ 6 ]
 *     silver  [ 2     ][ 5   ]…              the numbers are the order of the batches
 *     copper  [ 4       ]…
 *
 * Ticks of many symbols that arrived together share the pages of PostgreSQL's table, so each page is changed while it is in
 * memory, and logged once. Symbol by symbol, each page was read and logged once for every symbol: 100 times for 100 symbols.
 */
export class TickPruning {
  readonly #engine: Engine;
  readonly #marked = new Map<string, MarkedDay>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** How many marked days are not finished. */
  get size(): number {
    return this.#marked.size;
  }

  /**
   * Marks the days that have a bar, or will never need one, and none of whose ticks was received after `receivedBy`. Days
   * whose deletion was interrupted are marked already. Returns how many are to be deleted.
   */
  async mark(days: readonly TradingDay[], receivedBy: number, signal?: AbortSignal): Promise<number> {
    const marked = await markDays(this.#engine, days, receivedBy, signal);
    for (const one of marked) this.#marked.set(keyOf(one.of), one);
    return marked.length;
  }

  /** Deletes the next batch. Returns the day that it finished, if any. */
  async deleteSome(): Promise<TradingDay | undefined> {
    let next: MarkedDay | undefined;
    for (const one of this.#marked.values()) if (!next || one.from < next.from) next = one;
    if (!next) return undefined;
    const { of } = next;
    const engine = this.#engine;
    const rest = await engine.write((tx) => deleteSome(engine, tx, next));
    if (rest !== undefined) {
      this.#marked.set(keyOf(of), { ...next, from: rest });
      return undefined;
    }
    this.#marked.delete(keyOf(of));
    return of;
  }
}

function keyOf({ symbolId, day, origin }: TradingDay): string {
  return `${symbolId} ${day} ${origin}`;
}

/**
 * Deletes ticks made from a moment on, by the index `tick_by_day`. Returns from when on to continue; undefined when none are
 * left, and the day is no longer marked. Without the moment, PostgreSQL would go through the index entries of all deleted
 * ticks again with each batch.
 */
async function deleteSome(
  engine: Engine,
  tx: Sql,
  { of, from, receivedBy }: MarkedDay,
): Promise<number | undefined> {
  const { symbolId, origin, day } = of;
  const { placeholder: p } = engine;
  const next = await nextBatch(engine, tx, of, from);
  await tx.unsafe(
    `DELETE FROM tick WHERE symbol_id = ${p(1)} AND day = ${p(2)} AND at >= ${p(3)} AND at < ${p(4)}
       AND ${originFilter(origin)} AND received <= ${p(5)}`,
    [symbolId, day, from, next ?? Number.MAX_SAFE_INTEGER, receivedBy],
  );
  if (next === undefined) await unmark(tx, of);
  return next;
}

/** The moment with which the batch after the one that begins at `from` begins. Ticks of one moment are not divided. */
async function nextBatch(
  { rowsPerDelete }: Engine,
  tx: Sql,
  { symbolId, day }: TradingDay,
  from: number,
): Promise<number | undefined> {
  const [row] = await tx`
    SELECT at FROM tick WHERE symbol_id = ${symbolId} AND day = ${day} AND at >= ${from}
      AND at <= ${Number.MAX_SAFE_INTEGER}
    ORDER BY at LIMIT 1 OFFSET ${rowsPerDelete}`;
  return row && Math.max(asNumber(row.at), from + 1);
}
