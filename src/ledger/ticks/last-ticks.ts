import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber } from '../engine/rows.ts';
import { originFilter, type TradingDay } from '../symbols/origin.ts';
import { DayPages } from './day-pages.ts';
import { lastOf } from './fold-day.ts';
import { LAST_MOMENT, pageUpTo } from './page-statements.ts';
import type { LedgerTick } from './tick.ts';

/** Read at each horizon. Enough unless ticks are received late. */
const TICKS_PER_HORIZON = 20;
const FIRST_PAGE_TICKS = 1_000;
const PAGE_GROWTH = 10;

/**
 * The last tick of a day that is visible at each of these horizons; undefined where none is. It is among the last ticks made by
 * then, unless many ticks were received late: only then are all earlier ones read, backwards and a page at a time.
 */
export async function readLastTicks(
  engine: Engine,
  of: TradingDay,
  horizons: readonly number[],
): Promise<(LedgerTick | undefined)[]> {
  const moments = await momentsNear(engine, of, horizons);
  const isFound = moments.map((moment) => moment !== undefined);
  if (isFound.includes(false)) {
    const rest = await momentsBefore(
      engine,
      of,
      horizons.filter((_, i) => !isFound[i]),
    );
    for (const i of horizons.keys()) moments[i] ??= rest.shift();
  }
  const pages = new DayPages(engine, of, { madeBy: LAST_MOMENT, receivedBy: LAST_MOMENT });
  const ticks = await pages.atMoments(moments);
  return horizons.map((horizon, i) => {
    const visible = ticks.filter(({ at, received }) => at === moments[i] && received <= horizon);
    return visible.length === 0 ? undefined : lastOf(visible);
  });
}

/** The moment of each horizon's tick, if it is among the last few ticks made by then. */
async function momentsNear(
  engine: Engine,
  { symbolId, origin, day }: TradingDay,
  horizons: readonly number[],
): Promise<(number | undefined)[]> {
  const { read, placeholder: p } = engine;
  const near = horizons.map((_, i) => {
    const first = 6 * i + 1;
    return `(SELECT max(at) FROM ${pageUpTo(engine, 'source_id, received', first, TICKS_PER_HORIZON)}
      WHERE received <= ${p(first + 5)} AND ${originFilter(origin)})`;
  });
  const values = horizons.flatMap((horizon) => [symbolId, day, horizon, symbolId, day, horizon]);
  const [row] = await read.unsafe(`SELECT ${near.join(', ')}`, values).values();
  return row!.map((cell) => (cell === null ? undefined : asNumber(cell)));
}

/** The moment of each horizon's tick. Reads backwards until every horizon has one. */
async function momentsBefore(
  engine: Engine,
  { symbolId, origin, day }: TradingDay,
  horizons: readonly number[],
): Promise<(number | undefined)[]> {
  const { read, placeholder: p } = engine;
  const count = horizons.length;
  const visible = horizons.map(
    (_, i) => `max(at) FILTER (WHERE at <= ${p(2 * i + 1)} AND received <= ${p(2 * i + 2)})`,
  );
  const next = 2 * count + 1;
  const statement = (size: number) => `SELECT count(*), min(at), ${visible.join(', ')} FROM (
      SELECT at, CASE WHEN ${originFilter(origin)} THEN received ELSE ${LAST_MOMENT} END AS received
      FROM ${pageUpTo(engine, 'source_id, received', next, size)}) day_page`;
  const moments: (number | undefined)[] = horizons.map(() => undefined);
  const bounds = horizons.flatMap((horizon) => [horizon, horizon]);
  let [upTo, size] = [Math.max(...horizons), FIRST_PAGE_TICKS];
  for (;;) {
    const values = [...bounds, symbolId, day, upTo, symbolId, day];
    const [row] = await read.unsafe(statement(size), values).values();
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
