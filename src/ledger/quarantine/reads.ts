import type { Day } from '../../market/day.ts';
import { type Usual, type WatchedTick, WINDOW_TICKS } from '../../market/quarantine.ts';
import { type Market, marketOf } from '../../market/session.ts';
import { canBeZero } from '../../market/symbol.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber, asText, type Row, type Sql } from '../engine/rows.ts';
import { listOf, placeholders } from '../engine/statements.ts';
import { SIMULATED_ID } from '../symbols/sources.ts';
import type { NewTick } from '../ticks/ticks.ts';

/** What must be known of a symbol to judge its ticks. */
export interface Traits {
  market: Market;
  usual: Usual;
}

/** A tick whose id was there before. */
export interface Known {
  at: number;
  price: number;
  state: 'taken' | 'held' | 'released' | 'dropped';
  reason: string;
}

/** A moment in the ticks of a symbol. The day is in the index before the time, and goes up with it. */
export interface TickPosition {
  symbolId: number;
  day: Day;
  at: number;
}

/** What the ledger has next to a moment. */
export interface Edge {
  /** The price of the last real tick before it. */
  before: { at: number; price: number } | undefined;
  /** Whether there are real ticks from the moment on. */
  isOvertaken: boolean;
}

export type QuarantineRow = Row;

/** The traits of symbols. */
export async function traitsOf(
  engine: Engine,
  tx: Sql,
  ids: readonly number[],
): Promise<Map<number, Traits>> {
  const rows = await tx.unsafe(
    `SELECT id, market, category, unit_symbol, unit_name, decimals FROM symbol WHERE id IN (${listOf(engine, ids.length)})`,
    [...ids],
  );
  return new Map(
    rows.map((row) => {
      const unit = { symbol: asText(row.unit_symbol), name: asText(row.unit_name) };
      const usual = {
        canBeZero: canBeZero({ category: asText(row.category), unit }),
        step: 10 ** -asNumber(row.decimals),
      };
      return [asNumber(row.id), { market: marketOf(asText(row.market)), usual }];
    }),
  );
}

/** The name of a tick of one source. */
export function keyOf({ symbolId, id }: { symbolId: number; id: string }): string {
  return `${symbolId} ${id}`;
}

/** Which of these ticks of one source are known, as ticks or in quarantine. By their keys. */
export async function knownTicks(
  engine: Engine,
  tx: Sql,
  source: number,
  ticks: readonly NewTick[],
): Promise<Map<string, Known>> {
  if (ticks.length === 0) return new Map();
  // CROSS JOIN has SQLite go through what was sent, and look each up. The first row says the types for PostgreSQL.
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

// Ticks of one moment have an order, too: else PostgreSQL gives them as they lie, and judges the same ticks in two ways.
const OLDEST_FIRST = 'day, at, source_id, tick_id';
const NEWEST_FIRST = 'day DESC, at DESC, source_id DESC, tick_id DESC';

/** What is next to each moment, in their order. One statement for all: a feed sends ticks of all its symbols at once. */
export async function edgesOf(engine: Engine, tx: Sql, moments: readonly TickPosition[]): Promise<Edge[]> {
  // The + takes away the type that a CAST gives: SQLite would else look by the day alone, and go through all of it.
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

/** At most so many ticks from a moment on are read at a time: a late tick may have a day's ticks after it. */
export const ONWARD_TICKS = 4 * WINDOW_TICKS;

/** The real ticks of a symbol by time: as many before a moment as a tick is judged by, and the first ones from it on. */
export async function believedAround(
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

/** The ticks of some symbols that are held back, by symbol. */
export async function heldOf(
  engine: Engine,
  tx: Sql,
  symbolIds: readonly number[],
): Promise<Map<number, QuarantineRow[]>> {
  const rows = await tx.unsafe(
    `SELECT * FROM quarantine_tick WHERE state = 'held' AND symbol_id IN (${listOf(engine, symbolIds.length)})`,
    [...symbolIds],
  );
  return Map.groupBy(rows, (row) => asNumber(row.symbol_id));
}

/** A row of the quarantine as it comes to be believed: at its own time, and known from `received` on. */
export function believedFrom(row: QuarantineRow, received: number): NewTick & { sourceId: number } {
  return {
    symbolId: asNumber(row.symbol_id),
    sourceId: asNumber(row.source_id),
    id: asText(row.tick_id),
    at: asNumber(row.at),
    received,
    price: asNumber(row.price),
  };
}
