import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber } from '../engine/rows.ts';
import { originFilter, type TradingDay } from '../symbols/origin.ts';
import { DayPages, LAST_MOMENT } from './day-pages.ts';
import { lastOf } from './fold-day.ts';
import type { LedgerTick } from './rows.ts';

/** Enough unless ticks are received late. Rows that PostgreSQL has not vacuumed yet are looked up one by one in the table. */
const FIRST_PAGE_TICKS = 100;
const PAGE_GROWTH = 10;

/**
 * The last tick of a day that is visible at each of these horizons; undefined where none is. Reads the index `tick_by_day`
 * backwards, a page at a time, until every horizon has its tick. That is one page, unless many ticks were received after
 * a horizon.
 */
export async function readLastTicks(
  engine: Engine,
  of: TradingDay,
  horizons: readonly number[],
): Promise<(LedgerTick | undefined)[]> {
  const moments = await lastMoments(engine, of, horizons);
  const pages = new DayPages(engine, of, { madeBy: LAST_MOMENT, receivedBy: LAST_MOMENT });
  const ticks = await pages.atMoments(moments);
  return horizons.map((horizon, i) => {
    const visible = ticks.filter(({ at, received }) => at === moments[i] && received <= horizon);
    return visible.length === 0 ? undefined : lastOf(visible);
  });
}

async function lastMoments(
  engine: Engine,
  { symbolId, origin, day }: TradingDay,
  horizons: readonly number[],
): Promise<(number | undefined)[]> {
  const { read, placeholder: p } = engine;
  const count = horizons.length;
  const visible = horizons.map(
    (_, i) => `max(at) FILTER (WHERE at <= ${p(2 * i + 1)} AND received <= ${p(2 * i + 2)})`,
  );
  const statement = `SELECT count(*), min(at), ${visible.join(', ')} FROM (
      SELECT at, CASE WHEN ${originFilter(origin)} THEN received ELSE ${LAST_MOMENT} END AS received FROM tick
      WHERE symbol_id = ${p(2 * count + 1)} AND day = ${p(2 * count + 2)} AND at <= ${p(2 * count + 3)}
      ORDER BY at DESC LIMIT ${p(2 * count + 4)}) page`;
  const moments: (number | undefined)[] = horizons.map(() => undefined);
  let [upTo, size] = [Math.max(...horizons), FIRST_PAGE_TICKS];
  for (;;) {
    const values = [...horizons.flatMap((horizon) => [horizon, horizon]), symbolId, day, upTo, size];
    const [row] = await read.unsafe(statement, values).values();
    const [ticks, first, ...last] = row!.map((cell) => (cell === null ? undefined : asNumber(cell)));
    for (const [i, moment] of last.entries()) moments[i] ??= moment;
    if (ticks! < size || moments.every((moment) => moment !== undefined)) return moments;
    // The next page begins with the moment that ends this one, whose ticks may not all be in it.
    if (first === upTo) size *= 2;
    else size = Math.min(size * PAGE_GROWTH, Math.max(size, engine.rowsPerAggregate));
    upTo = first!;
    if (shouldYield()) await yieldToRequests();
  }
}
