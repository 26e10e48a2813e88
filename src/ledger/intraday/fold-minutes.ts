import { type Fold, foldTick, ohlcOf } from '../../market/bar.ts';
import type { IntradayBar } from '../../market/intraday/bar.ts';
import { HOUR_MS, MINUTE_MS, startOf, type TimeRange } from '../../market/intraday/interval.ts';
import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber, onlyRow } from '../engine/rows.ts';
import { originFilter, type TradingDay } from '../symbols/origin.ts';
import { type LedgerTick, toTick } from '../ticks/rows.ts';

/** Which ticks of a trade date are folded: those made in `range` and after `madeAfter`, and made and received by `horizon`. */
export interface MinuteLimits {
  range?: TimeRange;
  madeAfter?: number;
  horizon?: number;
}

/**
 * Folds the ticks of a trade date into minutes, inside the database, an hour at a time. The thread yields to requests
 * between hours. Hours without ticks are skipped by the index `tick_by_day`.
 */
export async function foldMinutes(
  engine: Engine,
  of: TradingDay,
  { range, madeAfter = Number.MIN_SAFE_INTEGER, horizon = Number.MAX_SAFE_INTEGER }: MinuteLimits = {},
): Promise<IntradayBar[]> {
  const minutes: IntradayBar[] = [];
  const from = Math.max(range?.from ?? Number.MIN_SAFE_INTEGER, madeAfter + 1);
  const to = Math.min(range?.to ?? Number.MAX_SAFE_INTEGER, horizon + 1);
  for (let next = await nextTick(engine, of, from, to); next !== undefined; ) {
    const end = Math.min(to, startOf(next, HOUR_MS) + HOUR_MS);
    for (const bar of await foldHour(engine, of, { from: next, to: end }, horizon)) minutes.push(bar);
    if (shouldYield()) await yieldToRequests();
    next = await nextTick(engine, of, end, to);
  }
  return minutes;
}

/** The moment of the first tick with `from` ≤ at < `to`, of either origin. */
async function nextTick(
  { read }: Engine,
  { symbolId, day }: TradingDay,
  from: number,
  to: number,
): Promise<number | undefined> {
  const { at } = onlyRow(
    await read`SELECT min(at) AS at FROM tick
      WHERE symbol_id = ${symbolId} AND day = ${day} AND at >= ${from} AND at < ${to}`,
  );
  return at === null ? undefined : asNumber(at);
}

/**
 * The statement returns the first and the last ticks of each minute; ties are resolved by the rule of `foldTick`. CROSS JOIN
 * makes SQLite read the minutes first, and then their ticks: the other way round, it folds the hour again for every tick.
 * PostgreSQL compares every minute with every tick unless they are joined by one equality.
 */
async function foldHour(
  { read, placeholder: p }: Engine,
  { symbolId, day, origin }: TradingDay,
  { from, to }: TimeRange,
  receivedBy: number,
): Promise<IntradayBar[]> {
  const isFolded = (tick: string, n: number) =>
    `${tick}.symbol_id = ${p(n)} AND ${tick}.day = ${p(n + 1)} AND ${tick}.at >= ${p(n + 2)} AND ${tick}.at < ${p(n + 3)}
       AND ${tick}.received <= ${p(n + 4)} AND ${tick}.${originFilter(origin)}`;
  const values = [symbolId, day, from, to, receivedBy];
  const rows = await read
    .unsafe(
      `WITH folded AS (
         SELECT min(i.price) AS low, max(i.price) AS high, min(i.at) AS first_at, max(i.at) AS last_at
         FROM tick i WHERE ${isFolded('i', 1)} GROUP BY i.at / ${MINUTE_MS}),
       moment AS (SELECT first_at AS at, low, high FROM folded UNION SELECT last_at, low, high FROM folded)
       SELECT t.symbol_id, t.source_id, t.tick_id, t.day, t.at, t.received, t.price, t.revision, m.low, m.high
       FROM moment m CROSS JOIN tick t
       WHERE t.at = m.at AND ${isFolded('t', 6)} ORDER BY t.at, t.source_id`,
      [...values, ...values],
    )
    .values();
  const found: { at: number; fold: Fold<LedgerTick>; low: number; high: number }[] = [];
  for (const row of rows) {
    const tick = toTick(row);
    const at = startOf(tick.at, MINUTE_MS);
    const last = found.at(-1);
    if (last?.at === at) last.fold = foldTick(last.fold, tick);
    else {
      found.push({ at, fold: foldTick(undefined, tick), low: asNumber(row[8]), high: asNumber(row[9]) });
    }
  }
  return found.map(({ at, fold, low, high }) => {
    const { open, close } = ohlcOf(fold);
    return { at, day, open, high, low, close, sourceId: fold.close.sourceId, minutes: 1, closeSum: close };
  });
}
