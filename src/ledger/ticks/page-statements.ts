import type { Engine, RowsInText } from '../engine/engine.ts';

/** The columns of a tick, without symbol and day, which all ticks of a page share. */
export const OWN_COLUMNS = 'source_id, tick_id, at, received, price, revision';
export const WITHOUT_MOMENT = 'source_id, tick_id, received, price, revision';

export const FIRST_MOMENT = Number.MIN_SAFE_INTEGER;
export const LAST_MOMENT = Number.MAX_SAFE_INTEGER;

/**
 * A page of the index `tick_by_day` that begins after a moment of a day: at most `limit` ticks in order, less those of the next
 * day or symbol. They are left out afterwards: if the search had the day as a condition, PostgreSQL would expect few ticks as long
 * as it has no statistics, and read and sort the whole day.
 *
 * The placeholders of symbol, day, moment, symbol and day begin with number `first`. The limit is part of the text: SQLite
 * prepares a statement again for each new value of a LIMIT, which takes ten times as long as to read a tick.
 */
export function pageAfter(engine: Engine, columns: string, first: number, limit: number): string {
  return pageFrom(engine, columns, first, { limit, ...FORWARDS });
}

/** Like `pageAfter`, but ends with a moment, and begins with it: the ticks are in reverse order. */
export function pageUpTo(engine: Engine, columns: string, first: number, limit: number): string {
  return pageFrom(engine, columns, first, { limit, ...BACKWARDS });
}

/** The first page of the day in a row of values. */
export function firstPage(n: RowsInText, limit: number): string {
  const [symbol, day] = [n.cell('symbol_id'), n.cell('day')];
  const place = `(${symbol}, ${day}, ${FIRST_MOMENT})`;
  return page(WITHOUT_MOMENT, place, `symbol_id = ${symbol} AND day = ${day}`, { limit, ...FORWARDS });
}

function pageFrom(
  { placeholder: p }: Engine,
  columns: string,
  first: number,
  options: { limit: number } & Direction,
): string {
  const place = `(${p(first)}, ${p(first + 1)}, ${p(first + 2)})`;
  return page(columns, place, `symbol_id = ${p(first + 3)} AND day = ${p(first + 4)}`, options);
}

interface Direction {
  side: '>' | '<=';
  order: 'ASC' | 'DESC';
}
const FORWARDS = { side: '>', order: 'ASC' } as const;
const BACKWARDS = { side: '<=', order: 'DESC' } as const;

function page(
  columns: string,
  place: string,
  isOfDay: string,
  { limit, side, order }: { limit: number } & Direction,
): string {
  return `(SELECT at, ${columns} FROM (
    SELECT symbol_id, day, at, ${columns} FROM tick WHERE (symbol_id, day, at) ${side} ${place}
    ORDER BY symbol_id ${order}, day ${order}, at ${order} LIMIT ${limit}) near WHERE ${isOfDay}) page`;
}
