import type { Day } from '../../market/day.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber, type Sql } from '../engine/rows.ts';
import { listOf, padRows } from '../engine/statements.ts';
import { standingBar } from '../prices/standing.ts';
import { SIMULATED_ID } from './sources.ts';

/** A symbol has a real and a simulated price history. They are never mixed. */
export type PriceOrigin = 'real' | 'simulated';

/** One day of one symbol. */
export interface SymbolDay {
  symbolId: number;
  day: Day;
}

/** The key of a day of a symbol in a map. */
export function symbolDayKey({ symbolId, day }: SymbolDay): string {
  return `${symbolId} ${day}`;
}

/** One day of one symbol's real or simulated prices. */
export interface TradingDay extends SymbolDay {
  origin: PriceOrigin;
}

/** SQL condition on the column `source_id` of bars and ticks. */
export function originFilter(origin: PriceOrigin): string {
  return origin === 'simulated' ? `source_id = ${SIMULATED_ID}` : `source_id <> ${SIMULATED_ID}`;
}

/** Marks symbols that received their first real price: their simulated prices are no longer served. */
export async function markReal(
  engine: Engine,
  tx: Sql,
  symbolIds: readonly number[],
  revision: number,
): Promise<void> {
  if (symbolIds.length === 0) return;
  const padded = padRows(symbolIds);
  await tx.unsafe(
    `UPDATE symbol SET real_revision = ${engine.placeholder(1)}, revision = ${engine.placeholder(2)}
     WHERE real_revision IS NULL AND id IN (${listOf(engine, padded.length, 3)})`,
    [revision, revision, ...padded],
  );
}

/** Unmarks symbols that have no real price left, as after the undo of their first import. */
export async function unmarkReal(
  engine: Engine,
  tx: Sql,
  symbolIds: readonly number[],
  revision: number,
): Promise<void> {
  const p = engine.placeholder;
  await tx.unsafe(
    `UPDATE symbol SET real_revision = NULL, revision = ${p(1)}
     WHERE real_revision IS NOT NULL AND id IN (${listOf(engine, symbolIds.length, 2)})
       AND NOT EXISTS (SELECT 1 FROM tick t WHERE t.symbol_id = symbol.id AND t.source_id <> ${SIMULATED_ID})
       AND NOT EXISTS (SELECT 1 FROM bar b WHERE b.symbol_id = symbol.id AND b.source_id <> ${SIMULATED_ID}
         AND ${standingBar('b')})`,
    [revision, ...symbolIds],
  );
}

export async function symbolsWithRealPrices(tx: Sql): Promise<Set<number>> {
  const rows = await tx`SELECT id FROM symbol WHERE real_revision IS NOT NULL`;
  return new Set(rows.map((row) => asNumber(row.id)));
}
