import type { SQL } from 'bun';
import type { Day } from '../market/day.ts';
import { type Usual, type WatchedTick, WINDOW_TICKS } from '../market/quarantine.ts';
import type { Engine } from './engine.ts';
import { SIMULATED_ID } from './sources.ts';

/** What a tick is judged by. */
export type Neighbour = WatchedTick;

/** A tick whose id was there before. */
export interface Known {
  at: number;
  price: number;
  state: 'taken' | 'held' | 'released' | 'dropped';
  reason: string;
}

/** What is usual for a symbol. Energy is the one category whose prices have been below zero. */
export async function usualOf(tx: SQL, symbolId: number): Promise<Usual> {
  const [row] = await tx`SELECT category, decimals FROM symbol WHERE id = ${symbolId}`;
  return { mayBeNegative: row.category === 'Energy', step: 10 ** -Number(row.decimals) };
}

/** Which of the ids of these ticks are known, as ticks or in quarantine. */
export async function knownTicks(
  engine: Engine,
  tx: SQL,
  symbolId: number,
  source: number,
  ticks: readonly { id: string }[],
): Promise<Map<string, Known>> {
  const ids = [...new Set(ticks.map((tick) => tick.id))];
  const list = ids.map((_, i) => engine.placeholder(i + 3)).join(',');
  const find = (columns: string, table: string) =>
    tx.unsafe(
      `SELECT tick_id, at, price, ${columns} FROM ${table}
       WHERE symbol_id = ${engine.placeholder(1)} AND source_id = ${engine.placeholder(2)} AND tick_id IN (${list})`,
      [symbolId, source, ...ids],
    );
  const known = new Map<string, Known>();
  for (const row of [
    ...(await find('state, reason', 'quarantine_tick')),
    ...(await find(`'taken' AS state, '' AS reason`, 'tick')),
  ]) {
    const { tick_id, at, price, state, reason } = row;
    known.set(String(tick_id), { at: Number(at), price: Number(price), state, reason });
  }
  return known;
}

/** The real ticks of a symbol between two moments, and as many before and after as a tick is judged by, by time. */
export async function believedAround(
  engine: Engine,
  tx: SQL,
  symbolId: number,
  { first, last }: { first: number; last: number },
  dayOf: (at: number) => Day,
): Promise<Neighbour[]> {
  const { placeholder: p } = engine;
  const read = async (where: string, order: string, values: readonly number[]): Promise<Neighbour[]> => {
    const rows = await tx.unsafe(
      `SELECT at, price, source_id FROM tick
       WHERE symbol_id = ${p(1)} AND source_id <> ${SIMULATED_ID} AND ${where} ORDER BY ${order}`,
      [symbolId, ...values],
    );
    return rows.map((row: Record<string, number>) => ({
      at: Number(row.at),
      price: Number(row.price),
      sourceId: Number(row.source_id),
    }));
  };
  // The day is in the index before the time, and goes up with it.
  const [from, to] = [
    [dayOf(first), first],
    [dayOf(last), last],
  ] as const;
  const earlier = await read(
    `(day, at) < (${p(2)}, ${p(3)})`,
    `day DESC, at DESC LIMIT ${WINDOW_TICKS}`,
    from,
  );
  const between = await read(
    `(day, at) >= (${p(2)}, ${p(3)}) AND (day, at) <= (${p(4)}, ${p(5)})`,
    'day, at',
    [...from, ...to],
  );
  const later = await read(`(day, at) > (${p(2)}, ${p(3)})`, `day, at LIMIT ${WINDOW_TICKS}`, to);
  return [...earlier.reverse(), ...between, ...later];
}
