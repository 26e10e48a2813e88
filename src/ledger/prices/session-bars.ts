import type { Ohlc } from '../../market/bar.ts';
import type { Engine } from '../engine/engine.ts';
import { lockRevisions } from '../engine/revisions.ts';
import { asText, onlyRow, type Sql } from '../engine/rows.ts';
import type { TradingDay } from '../symbols/origin.ts';
import { ticksSince } from '../ticks/day-ticks.ts';
import { isMarked } from '../ticks/mark-days.ts';
import type { LedgerTick } from '../ticks/rows.ts';
import { type BarRevision, type NewBar, readRevisions } from './bars.ts';
import { publishBars } from './publish-bars.ts';

/** The bar that results from a day's ticks. */
export interface Closing extends Ohlc {
  sourceId: number;
  reason: string;
}

/**
 * Decides what a day's bar should be, from its current bar and the ticks since a revision; undefined to leave it unchanged.
 */
export type Decide = (
  day: TradingDay,
  current: BarRevision | undefined,
  ticksSince: (revision: number) => Promise<LedgerTick[]>,
) => Promise<Closing | undefined>;

/** Turns ticks into bars. The decision is made under the write lock, so two closers write a bar only once. */
export class ClosingStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Publishes the decision for each day, in one transaction. Returns how many bars were written. */
  async publish(days: readonly TradingDay[], decide: Decide, recordedAt: number): Promise<number> {
    return this.#engine.writePrices((tx) => closeDays(this.#engine, tx, days, decide, recordedAt));
  }
}

async function closeDays(
  engine: Engine,
  tx: Sql,
  days: readonly TradingDay[],
  decide: Decide,
  recordedAt: number,
): Promise<number> {
  await lockRevisions(tx, 'prices');
  const made: { bar: NewBar; sourceId: number; reason: string }[] = [];
  for (const of of days) {
    const { symbolId, origin, day } = of;
    if (await isMarked(tx, of)) continue; // its ticks are being deleted
    const current = (await readRevisions(tx, symbolId, origin, day, day)).at(-1);
    const closing = await decide(of, current, (revision) => ticksSince(engine, tx, of, revision));
    if (!closing) continue;
    const { open, high, low, close, sourceId, reason } = closing;
    made.push({ bar: { symbolId, day, open, high, low, close }, sourceId, reason });
  }
  let written = 0;
  for (const alike of Map.groupBy(made, (one) => `${one.sourceId} ${one.reason}`).values()) {
    const { sourceId, reason } = alike[0]!;
    const source = onlyRow(await tx`SELECT name FROM source WHERE id = ${sourceId}`);
    const bars = alike.map((one) => one.bar);
    const result = await publishBars(engine, tx, bars, { source: asText(source.name), recordedAt, reason });
    written += result.taken + result.corrected;
  }
  return written;
}
