import type { Engine } from '../engine/engine.ts';
import type { Sql } from '../engine/rows.ts';
import { originFilter, type TradingDay } from '../symbols/origin.ts';
import { SIMULATED_ID } from '../symbols/sources.ts';
import { type LedgerTick, toTick } from './tick.ts';

/** The ticks of a day that were stored after a revision. Only for a recent revision: it scans all ticks since. */
export async function ticksSince(
  { placeholder: p }: Engine,
  handle: Sql,
  { symbolId, origin, day }: TradingDay,
  revision: number,
): Promise<LedgerTick[]> {
  // `+ 0` prevents both engines from using the index of the day, which would read the whole day.
  const rows = await handle
    .unsafe(
      `SELECT symbol_id, source_id, tick_id, day, at, received, price, revision FROM tick
       WHERE revision > ${p(1)} AND symbol_id + 0 = ${p(2)} AND day + 0 = ${p(3)} AND ${originFilter(origin)}`,
      [revision, symbolId, day],
    )
    .values();
  return rows.map(toTick);
}

/** All real ticks that were stored after a recent revision. */
export async function allTicksSince(handle: Sql, revision: number): Promise<LedgerTick[]> {
  const rows = await handle`
    SELECT symbol_id, source_id, tick_id, day, at, received, price, revision FROM tick
    WHERE revision > ${revision} AND source_id <> ${SIMULATED_ID} ORDER BY revision`.values();
  return rows.map(toTick);
}

/** All ticks of a trade date. */
export async function ticksOf(handle: Sql, { symbolId, origin, day }: TradingDay): Promise<LedgerTick[]> {
  const rows = await handle`
    SELECT symbol_id, source_id, tick_id, day, at, received, price, revision FROM tick
    WHERE symbol_id = ${symbolId} AND day = ${day}`.values();
  return rows
    .map(toTick)
    .filter((tick: LedgerTick) => (tick.sourceId === SIMULATED_ID) === (origin === 'simulated'));
}
