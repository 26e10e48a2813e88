import type { Day } from '../../market/day.ts';
import { type Usual, type WatchedTick, WINDOW_TICKS } from '../../market/quarantine.ts';
import { type Market, marketOf } from '../../market/session.ts';
import { canBeZero } from '../../market/symbol.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber, asText, rowReader, type Sql } from '../engine/rows.ts';
import { listOf, placeholders } from '../engine/statements.ts';
import { SIMULATED_ID } from '../symbols/sources.ts';
import type { NewTick } from '../ticks/ticks.ts';

/** What the check of a symbol's ticks depends on. */
export interface Traits {
  market: Market;
  usual: Usual;
}

/** A tick whose id is already in the ledger. */
export interface Known {
  at: number;
  price: number;
  state: 'taken' | 'held' | 'released' | 'dropped';
  reason: string;
}

/** A position in the ticks of a symbol. The index has the day before the time, and both ascend together. */
export interface TickPosition {
  symbolId: number;
  day: Day;
  at: number;
}

/** The ticks next to a position. */
export interface Edge {
  /** The last real tick before it. */
  before: { at: number; price: number } | undefined;
  /** Whether real ticks exist at or after the position. */
  isOvertaken: boolean;
}

/** A tick in quarantine. */
export interface QuarantinedTick {
  id: number;
  symbolId: number;
  sourceId: number;
  tickId: string;
  at: number;
  received: number;
  price: number;
}

export const QUARANTINED_TICK = rowReader<QuarantinedTick>({
  id: asNumber,
  symbolId: asNumber,
  sourceId: asNumber,
  tickId: asText,
  at: asNumber,
  received: asNumber,
  price: asNumber,
});

const TRAITS = rowReader({
  id: asNumber,
  market: asText,
  category: asText,
  unitSymbol: asText,
  unitName: asText,
  decimals: asNumber,
});

export async function traitsOf(
  engine: Engine,
  tx: Sql,
  ids: readonly number[],
): Promise<Map<number, Traits>> {
  const rows = await tx.unsafe(
    `SELECT ${TRAITS.columns} FROM symbol WHERE id IN (${listOf(engine, ids.length)})`,
    [...ids],
  );
  return new Map(
    rows.map(TRAITS.read).map(({ id, market, category, unitSymbol, unitName, decimals }) => {
      const unit = { symbol: unitSymbol, name: unitName };
      const usual = { canBeZero: canBeZero({ category, unit }), step: 10 ** -decimals };
      return [id, { market: marketOf(market), usual }];
    }),
  );
}

/** Identifies a tick of one source. */
export function keyOf({ symbolId, id }: { symbolId: number; id: string }): string {
  return `${symbolId} ${id}`;
}

/** The ticks of one source that are already stored or in quarantine, by key. */
export async function knownTicks(
  engine: Engine,
  tx: Sql,
  source: number,
  ticks: readonly NewTick[],
): Promise<Map<string, Known>> {
  if (ticks.length === 0) return new Map();
  // CROSS JOIN makes SQLite look up each sent tick by index. The casts give PostgreSQL the column types.
  const find = (columns: string, table: string) =>
    `SELECT t.symbol_id, t.tick_id, t.at, t.price, ${columns} FROM sent CROSS JOIN ${table} t
     WHERE t.symbol_id = sent.symbol_id AND t.source_id = ${source} AND t.tick_id = sent.tick_id`;
  const rows = await tx
    .unsafe(
      `WITH sent (symbol_id, tick_id) AS (SELECT CAST(column1 AS INTEGER), CAST(column2 AS TEXT)
         FROM (VALUES ${placeholders(engine, 2, ticks.length)}) AS v)
       ${find('t.state, t.reason', 'quarantine_tick')} UNION ALL ${find(`'taken', ''`, 'tick')}`,
      ticks.flatMap((tick) => [tick.symbolId, tick.id]),
    )
    .values();
  return new Map(
    rows.map(([symbolId, id, at, price, state, reason]) => [
      keyOf({ symbolId: asNumber(symbolId), id: asText(id) }),
      {
        at: asNumber(at),
        price: asNumber(price),
        state: asText(state) as Known['state'],
        reason: asText(reason),
      },
    ]),
  );
}

// Includes a tie-breaker: without it, PostgreSQL returns ticks of one time in any order, and results would vary.
const OLDEST_FIRST = 'day, at, source_id, tick_id';
const NEWEST_FIRST = 'day DESC, at DESC, source_id DESC, tick_id DESC';

/** The neighbours of each position, in order. One statement for all, because a feed sends ticks of all its symbols together. */
export async function edgesOf(engine: Engine, tx: Sql, moments: readonly TickPosition[]): Promise<Edge[]> {
  // The unary + removes the affinity of the CAST. With it, SQLite would use only the day in the index and scan all of it.
  const next = (column: string, side: string, order: string) =>
    `(SELECT ${column} FROM tick t WHERE t.symbol_id = m.symbol_id AND t.source_id <> ${SIMULATED_ID}
       AND (t.day, t.at) ${side} (+m.day, +m.at) ORDER BY ${order} LIMIT 1)`;
  const before = (column: string) => next(column, '<', NEWEST_FIRST);
  const rows = await tx
    .unsafe(
      `SELECT m.place, ${before('t.at')}, ${before('t.price')}, ${next('1', '>=', OLDEST_FIRST)}
       FROM (SELECT CAST(column1 AS INTEGER) AS place, CAST(column2 AS INTEGER) AS symbol_id,
           CAST(column3 AS INTEGER) AS day, CAST(column4 AS BIGINT) AS at
         FROM (VALUES ${placeholders(engine, 4, moments.length)}) AS v) AS m`,
      moments.flatMap(({ symbolId, day, at }, i) => [i, symbolId, day, at]),
    )
    .values();
  const edges = new Array<Edge>(moments.length);
  for (const [place, at, price, later] of rows) {
    const isFirst = at === null;
    edges[asNumber(place)] = {
      before: isFirst ? undefined : { at: asNumber(at), price: asNumber(price) },
      isOvertaken: later !== null,
    };
  }
  return edges;
}

/** How many later ticks are read at a time: a late tick may have a whole day of ticks after it. */
export const ONWARD_TICKS = 4 * WINDOW_TICKS;

/** The real ticks around a position, by time: the window before it, and the first ones from it on. */
export async function realTicksAround(
  engine: Engine,
  tx: Sql,
  { symbolId, day, at }: TickPosition,
): Promise<{ before: WatchedTick[]; onward: WatchedTick[] }> {
  const { placeholder: p } = engine;
  const read = async (side: string, order: string): Promise<WatchedTick[]> => {
    const rows = await tx
      .unsafe(
        `SELECT at, price, source_id FROM tick
         WHERE symbol_id = ${p(1)} AND source_id <> ${SIMULATED_ID} AND (day, at) ${side} (${p(2)}, ${p(3)})
         ORDER BY ${order}`,
        [symbolId, day, at],
      )
      .values();
    return rows.map((row) => ({
      at: asNumber(row[0]),
      price: asNumber(row[1]),
      sourceId: asNumber(row[2]),
    }));
  };
  const before = await read('<', `${NEWEST_FIRST} LIMIT ${WINDOW_TICKS}`);
  return { before: before.reverse(), onward: await read('>=', `${OLDEST_FIRST} LIMIT ${ONWARD_TICKS}`) };
}

/** The held ticks of some symbols, by symbol. */
export async function heldOf(
  engine: Engine,
  tx: Sql,
  symbolIds: readonly number[],
): Promise<Map<number, QuarantinedTick[]>> {
  const rows = await tx.unsafe(
    `SELECT ${QUARANTINED_TICK.columns} FROM quarantine_tick
     WHERE state = 'held' AND symbol_id IN (${listOf(engine, symbolIds.length)})`,
    [...symbolIds],
  );
  return Map.groupBy(rows.map(QUARANTINED_TICK.read), (tick) => tick.symbolId);
}

/** The tick to insert when a held tick is released: at its own time, and received at `received`. */
export function releasedTick(held: QuarantinedTick, received: number): NewTick & { sourceId: number } {
  const { symbolId, sourceId, tickId: id, at, price } = held;
  return { symbolId, sourceId, id, at, received, price };
}
