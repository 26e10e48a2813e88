import type { Day } from '../../market/day.ts';
import {
  type PriceTraits,
  type TickNeighbours,
  type WatchedTick,
  WINDOW_TICKS,
} from '../../market/quality/tick-watch.ts';
import { type Market, marketOf, tradeDate } from '../../market/session.ts';
import { canBeZero } from '../../market/symbol.ts';
import type { Engine } from '../engine/engine.ts';
import { asFlag, asNumber, asText, type Cell, rowReader, type Sql } from '../engine/rows.ts';
import { listOf, padRows, placeholders } from '../engine/statements.ts';
import { ALWAYS, withdrawnUntilSql } from '../prices/bars.ts';
import { SIMULATED_ID } from '../symbols/sources.ts';
import type { NewTick } from '../ticks/tick.ts';

/** What the check of a symbol's ticks depends on. */
export interface SymbolTraits {
  market: Market;
  priceTraits: PriceTraits;
  /** Whether it has real prices. */
  isReal: boolean;
  /** Whether ticks of it are held. */
  hasHeld: boolean;
}

/** A tick whose id is already in the ledger. */
export interface KnownTick {
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

/** The position of a time in the ticks of a symbol. */
export function positionOf(
  { symbolId, traits }: { symbolId: number; traits: SymbolTraits },
  at: number,
): TickPosition {
  return { symbolId, day: tradeDate(traits.market, at), at };
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

const STORED_TRAITS = {
  id: asNumber,
  market: asText,
  category: asText,
  unitSymbol: asText,
  unitName: asText,
  decimals: asNumber,
};
const STORED_COLUMNS = rowReader(STORED_TRAITS).columnsOf('s');
const TRAITS = rowReader({ ...STORED_TRAITS, isReal: asFlag, hasHeld: asFlag });

export async function traitsOf(
  engine: Engine,
  tx: Sql,
  ids: readonly number[],
): Promise<Map<number, SymbolTraits>> {
  const padded = padRows(ids);
  const rows = await tx.unsafe(
    `SELECT ${STORED_COLUMNS}, CASE WHEN s.real_revision IS NULL THEN 0 ELSE 1 END AS is_real, CASE WHEN EXISTS (
       SELECT 1 FROM quarantine_tick q WHERE q.symbol_id = s.id AND q.state = 'held') THEN 1 ELSE 0 END AS has_held
     FROM symbol s WHERE s.id IN (${listOf(engine, padded.length)})`,
    [...padded],
  );
  return new Map(
    rows.map(TRAITS.read).map(({ id, market, category, unitSymbol, unitName, decimals, isReal, hasHeld }) => {
      const unit = { symbol: unitSymbol, name: unitName };
      const priceTraits = { canBeZero: canBeZero({ category, unit }), step: 10 ** -decimals };
      return [id, { market: marketOf(market), priceTraits, isReal, hasHeld }];
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
): Promise<Map<string, KnownTick>> {
  const found = await lookUp(engine, tx, source, ticks, ['t.at', 'q.at']);
  const known = ticks.filter((_, i) => found[i]!.some((cell) => cell !== null));
  const details = await lookUp(engine, tx, source, known, [
    't.at',
    't.price',
    'q.at',
    'q.price',
    'q.state',
    'q.reason',
  ]);
  return new Map(known.map((tick, i) => [keyOf(tick), toKnownTick(details[i]!)]));
}

function toKnownTick([at, price, heldAt, heldPrice, state, reason]: readonly Cell[]): KnownTick {
  return at === null
    ? {
        at: asNumber(heldAt),
        price: asNumber(heldPrice),
        state: asText(state) as KnownTick['state'],
        reason: asText(reason),
      }
    : { at: asNumber(at), price: asNumber(price), state: 'taken', reason: '' };
}

/**
 * Columns of each tick as it is stored (`t`) or in quarantine (`q`); NULL where it is not. Uses subqueries,
 * because PostgreSQL joins thousands of ticks by a scan of the whole table.
 */
async function lookUp(
  engine: Engine,
  tx: Sql,
  source: number,
  ticks: readonly NewTick[],
  columns: readonly `${'t' | 'q'}.${string}`[],
): Promise<Cell[][]> {
  if (ticks.length === 0) return [];
  const find = (column: string) => {
    const from = column.startsWith('t.') ? 'tick t' : 'quarantine_tick q';
    const [, alias] = from.split(' ');
    return `(SELECT ${column} FROM ${from} WHERE ${alias}.symbol_id = m.symbol_id AND ${alias}.source_id = ${source}
      AND ${alias}.tick_id = m.tick_id)`;
  };
  const padded = padRows(ticks);
  // The casts give PostgreSQL the column types.
  const rows = await tx
    .unsafe(
      `SELECT m.place, ${columns.map(find).join(', ')}
       FROM (SELECT CAST(column1 AS INTEGER) AS place, CAST(column2 AS INTEGER) AS symbol_id, CAST(column3 AS TEXT) AS tick_id
         FROM (VALUES ${placeholders(engine, 3, padded.length)}) AS v) AS m`,
      padded.flatMap((tick, i) => [Math.min(i, ticks.length - 1), tick.symbolId, tick.id]),
    )
    .values();
  const found = new Array<Cell[]>(ticks.length);
  for (const [place, ...cells] of rows) found[asNumber(place)] = cells;
  return found;
}

// The order of the index `tick_by_day`, so that no sort is needed. It is total: otherwise ticks of the same time would come in
// any order, and results would vary.
const ORDER = ['day', 'at', 'source_id', 'received', 'price', 'revision'];
const OLDEST_FIRST = ORDER.join(', ');
const NEWEST_FIRST = ORDER.map((column) => `${column} DESC`).join(', ');

/** Whether a row `t` of `tick` counts: it was not withdrawn. */
const COUNTS = `t.received > coalesce(${withdrawnUntilSql('t')}, ${ALWAYS})`;

/** The neighbours of each position, in order. One statement for all, because a feed sends ticks of all its symbols together. */
export async function neighboursOf(
  engine: Engine,
  tx: Sql,
  positions: readonly TickPosition[],
): Promise<TickNeighbours[]> {
  if (positions.length === 0) return [];
  // The unary + removes the affinity of the CAST. With it, SQLite would use only the day in the index and scan all of it.
  const next = (column: string, side: string, order: string) =>
    `(SELECT ${column} FROM tick t WHERE t.symbol_id = m.symbol_id AND t.source_id <> ${SIMULATED_ID}
       AND (t.day, t.at) ${side} (+m.day, +m.at) ORDER BY ${order} LIMIT 1)`;
  const before = (column: string) => next(column, '<', NEWEST_FIRST);
  const padded = padRows(positions);
  const rows = await tx
    .unsafe(
      `SELECT m.place, ${before('t.at')}, ${before(`CASE WHEN ${COUNTS} THEN t.price END`)}, ${next('t.at', '>=', OLDEST_FIRST)}
       FROM (SELECT CAST(column1 AS INTEGER) AS place, CAST(column2 AS INTEGER) AS symbol_id,
           CAST(column3 AS INTEGER) AS day, CAST(column4 AS BIGINT) AS at
         FROM (VALUES ${placeholders(engine, 4, padded.length)}) AS v) AS m`,
      padded.flatMap(({ symbolId, day, at }, i) => [Math.min(i, positions.length - 1), symbolId, day, at]),
    )
    .values();
  const found = new Array<TickNeighbours>(positions.length);
  for (const [place, at, price, nextAt] of rows) {
    found[asNumber(place)] = {
      before:
        at === null ? undefined : { at: asNumber(at), price: price === null ? undefined : asNumber(price) },
      nextAt: nextAt === null ? Number.POSITIVE_INFINITY : asNumber(nextAt),
    };
  }
  return found;
}

/** How many later ticks are read at a time: a late tick may have a whole day of ticks after it. */
export const ONWARD_TICKS = 4 * WINDOW_TICKS;

/** The real ticks around a position that are not withdrawn, by time: the window before it, and the first ones from it on. */
export async function realTicksAround(
  engine: Engine,
  tx: Sql,
  { symbolId, day, at }: TickPosition,
): Promise<{ before: WatchedTick[]; onward: WatchedTick[] }> {
  const { placeholder: p } = engine;
  const read = async (side: string, order: string): Promise<WatchedTick[]> => {
    const rows = await tx
      .unsafe(
        `SELECT at, price, source_id FROM tick t
         WHERE symbol_id = ${p(1)} AND source_id <> ${SIMULATED_ID} AND (day, at) ${side} (${p(2)}, ${p(3)})
           AND ${COUNTS}
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
  if (symbolIds.length === 0) return new Map();
  const padded = padRows(symbolIds);
  const rows = await tx.unsafe(
    `SELECT ${QUARANTINED_TICK.columns} FROM quarantine_tick
     WHERE state = 'held' AND symbol_id IN (${listOf(engine, padded.length)})`,
    [...padded],
  );
  return Map.groupBy(rows.map(QUARANTINED_TICK.read), (tick) => tick.symbolId);
}

/** The tick to insert when a held tick is released: at its own time, and received at `received`. */
export function releasedTick(held: QuarantinedTick, received: number): NewTick & { sourceId: number } {
  const { symbolId, sourceId, tickId: id, at, price } = held;
  return { symbolId, sourceId, id, at, received, price };
}
