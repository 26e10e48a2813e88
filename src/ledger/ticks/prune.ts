import type { Engine } from '../engine/engine.ts';
import { lockRevisions } from '../engine/revisions.ts';
import { asNumber, type Sql } from '../engine/rows.ts';
import { foldMinutes } from '../intraday/fold-minutes.ts';
import { storeMinutes } from '../intraday/hour-bars.ts';
import { lastWithdrawal } from '../prices/bars.ts';
import { originFilter, type PriceOrigin, symbolsWithRealPrices, type TradingDay } from '../symbols/origin.ts';
import { foldDay } from './fold-day.ts';
import { ticksSince } from './new-ticks.ts';

/** About 20 ms: a push does not wait longer for SQLite's write lock. Ticks of one moment are deleted together. */
const TICKS_PER_DELETE = 2_000;

/** A marked day. Its ticks made before `from` are deleted. */
interface Progress {
  of: TradingDay;
  from: number;
  receivedBy: number;
}

/**
 * Deletes the ticks of days in bounded batches. A day is marked first, and its minutes are stored with the mark: from then on its
 * ticks are incomplete, and neither views nor the closer use them. The next batch is always of the day whose remaining ticks are the oldest:
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
  readonly #marked = new Map<string, Progress>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** How many marked days are not finished. */
  get size(): number {
    return this.#marked.size;
  }

  /**
   * Marks a day, if it has a bar or will never need one, and none of its ticks was received after `receivedBy`. A day whose
   * deletion was interrupted is marked already. Returns whether it is to be deleted.
   */
  async mark(of: TradingDay, receivedBy: number, signal?: AbortSignal): Promise<boolean> {
    const isInterrupted = await isMarked(this.#engine.read, of);
    const from = isInterrupted ? Number.MIN_SAFE_INTEGER : await mark(this.#engine, of, receivedBy, signal);
    if (from === undefined) return false;
    this.#marked.set(`${of.symbolId} ${of.day} ${of.origin}`, { of, from, receivedBy });
    return true;
  }

  /** Deletes the next batch. Returns the day that it finished, if any. */
  async deleteSome(): Promise<TradingDay | undefined> {
    let next: [string, Progress] | undefined;
    for (const entry of this.#marked) if (!next || entry[1].from < next[1].from) next = entry;
    if (!next) return undefined;
    const [key, { of, from, receivedBy }] = next;
    const engine = this.#engine;
    const rest = await engine.write((tx) => deleteSome(engine, tx, of, receivedBy, from));
    if (rest !== undefined) {
      this.#marked.set(key, { of, from: rest, receivedBy });
      return undefined;
    }
    this.#marked.delete(key);
    return of;
  }
}

/** Whether the ticks of a day are being deleted. */
export async function isMarked(handle: Sql, of: TradingDay): Promise<boolean> {
  const { symbolId, day } = of;
  const rows = await handle`
    SELECT 1 FROM tick_pruning WHERE symbol_id = ${symbolId} AND day = ${day} AND simulated = ${flagOf(of.origin)}`;
  return rows.length > 0;
}

/** How an origin is stored. */
function flagOf(origin: PriceOrigin): number {
  return origin === 'simulated' ? 1 : 0;
}

/** Returns the moment of the first tick; undefined when the ticks must stay. */
async function mark(
  engine: Engine,
  of: TradingDay,
  receivedBy: number,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const [head] = await engine.read`SELECT value FROM counter WHERE name = 'prices'`;
  let isLate = false;
  const fold = await foldDay(engine, of, {
    madeBy: Number.MAX_SAFE_INTEGER,
    receivedBy,
    onOther: () => {
      isLate = true;
    },
    ...(signal && { signal }),
  });
  if (!fold || isLate || signal?.aborted) return undefined;
  const madeAfter = await lastWithdrawal(engine.read, of);
  const minutes = await foldMinutes(engine, of, madeAfter === undefined ? {} : { madeAfter });
  return engine.write(async (tx) => {
    await lockRevisions(tx, 'prices'); // no tick comes in between
    if ((await ticksSince(engine, tx, of, asNumber(head?.value))).length > 0) return undefined;
    if (!(await isDispensable(engine, tx, of))) return undefined;
    await storeMinutes(engine, tx, of, minutes);
    await tx`INSERT INTO tick_pruning (symbol_id, day, simulated) VALUES (${of.symbolId}, ${of.day}, ${flagOf(of.origin)})
      ON CONFLICT DO NOTHING`;
    return fold.open.at;
  });
}

/** Whether a day has a bar, or is a simulated one of a symbol that has real prices. */
async function isDispensable(
  engine: Engine,
  tx: Sql,
  { symbolId, origin, day }: TradingDay,
): Promise<boolean> {
  if (origin === 'simulated' && (await symbolsWithRealPrices(tx)).has(symbolId)) return true;
  const { placeholder: p } = engine;
  const bars = await tx.unsafe(
    `SELECT 1 FROM bar WHERE symbol_id = ${p(1)} AND day = ${p(2)} AND ${originFilter(origin)} LIMIT 1`,
    [symbolId, day],
  );
  return bars.length > 0;
}

/**
 * Deletes ticks made from a moment on, by the index `tick_by_day`. Returns from when on to continue; undefined when none are
 * left, and the day is no longer marked. Without the moment, PostgreSQL would go through the index entries of all deleted
 * ticks again with each batch.
 */
async function deleteSome(
  engine: Engine,
  tx: Sql,
  of: TradingDay,
  receivedBy: number,
  from: number,
): Promise<number | undefined> {
  const { symbolId, origin, day } = of;
  const { placeholder: p } = engine;
  const next = await nextBatch(tx, of, from);
  await tx.unsafe(
    `DELETE FROM tick WHERE symbol_id = ${p(1)} AND day = ${p(2)} AND at >= ${p(3)} AND at < ${p(4)}
       AND ${originFilter(origin)} AND received <= ${p(5)}`,
    [symbolId, day, from, next ?? Number.MAX_SAFE_INTEGER, receivedBy],
  );
  if (next === undefined) {
    await tx`DELETE FROM tick_pruning WHERE symbol_id = ${symbolId} AND day = ${day} AND simulated = ${flagOf(origin)}`;
  }
  return next;
}

/** The moment with which the batch after the one that begins at `from` begins. Ticks of one moment are not divided. */
async function nextBatch(tx: Sql, { symbolId, day }: TradingDay, from: number): Promise<number | undefined> {
  const [row] = await tx`
    SELECT at FROM tick WHERE symbol_id = ${symbolId} AND day = ${day} AND at >= ${from}
      AND at <= ${Number.MAX_SAFE_INTEGER}
    ORDER BY at LIMIT 1 OFFSET ${TICKS_PER_DELETE}`;
  return row && Math.max(asNumber(row.at), from + 1);
}
