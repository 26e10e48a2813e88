import type { Engine } from '../engine/engine.ts';
import { asNumber, type Sql } from '../engine/rows.ts';
import { lockRevisions } from '../engine/statements.ts';
import { originFilter, symbolsWithRealPrices } from '../prices/bars.ts';
import { foldDay } from './fold-day.ts';
import { ticksSince } from './new-ticks.ts';
import type { TradingDay } from './rows.ts';

/** About 20 ms: a push does not wait longer for SQLite's write lock. */
const TICKS_PER_DELETE = 2_000;

/**
 * Deletes a day's ticks in bounded batches, if the day has a bar or will never need one, and none of the ticks was received
 * after `receivedBy`. First the day is marked: from then on its ticks are incomplete, and neither views nor the closer use
 * them. A deletion that was interrupted goes on where it stopped. Returns whether all of them were deleted.
 */
export async function pruneDay(
  engine: Engine,
  of: TradingDay,
  receivedBy: number,
  signal?: AbortSignal,
): Promise<boolean> {
  if (!(await isMarked(engine.read, of)) && !(await mark(engine, of, receivedBy, signal))) return false;
  for (let from: number | undefined = Number.MIN_SAFE_INTEGER; from !== undefined; ) {
    if (signal?.aborted) return false;
    const start: number = from;
    from = await engine.write((tx) => deleteSome(engine, tx, of, receivedBy, start));
  }
  await engine.write(async (tx) => {
    const { symbolId, day } = of;
    await tx`DELETE FROM tick_pruning WHERE symbol_id = ${symbolId} AND day = ${day} AND simulated = ${flagOf(of)}`;
  });
  return true;
}

/** Whether the ticks of a day are being deleted. */
export async function isMarked(handle: Sql, of: TradingDay): Promise<boolean> {
  const { symbolId, day } = of;
  const rows = await handle`
    SELECT 1 FROM tick_pruning WHERE symbol_id = ${symbolId} AND day = ${day} AND simulated = ${flagOf(of)}`;
  return rows.length > 0;
}

/** How an origin is stored. */
function flagOf({ origin }: TradingDay): number {
  return origin === 'simulated' ? 1 : 0;
}

async function mark(
  engine: Engine,
  of: TradingDay,
  receivedBy: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
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
  if (!fold || isLate || signal?.aborted) return false;
  return engine.write(async (tx) => {
    await lockRevisions(tx, 'prices'); // no tick comes in between
    if ((await ticksSince(engine, tx, of, asNumber(head?.value))).length > 0) return false;
    if (!(await isDispensable(engine, tx, of))) return false;
    await tx`INSERT INTO tick_pruning (symbol_id, day, simulated) VALUES (${of.symbolId}, ${of.day}, ${flagOf(of)})
      ON CONFLICT DO NOTHING`;
    return true;
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
 * Deletes ticks made from a moment on. Returns from when on to continue; undefined when none are left. Without the moment,
 * PostgreSQL would go through the index entries of all deleted ticks again with each batch.
 */
async function deleteSome(
  { placeholder: p }: Engine,
  tx: Sql,
  { symbolId, origin, day }: TradingDay,
  receivedBy: number,
  from: number,
): Promise<number | undefined> {
  const deleted = await tx.unsafe(
    `DELETE FROM tick WHERE (symbol_id, source_id, tick_id) IN (
       SELECT symbol_id, source_id, tick_id FROM tick
       WHERE symbol_id = ${p(1)} AND day = ${p(2)} AND ${originFilter(origin)} AND received <= ${p(3)}
         AND at >= ${p(4)}
       ORDER BY at LIMIT ${TICKS_PER_DELETE})
     RETURNING at`,
    [symbolId, day, receivedBy, from],
  );
  if (deleted.length < TICKS_PER_DELETE) return undefined;
  return deleted.reduce((last, { at }) => Math.max(last, asNumber(at)), from);
}
