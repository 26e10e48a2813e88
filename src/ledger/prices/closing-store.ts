import { type Ohlc, ohlcOf, sameOhlc } from '../../market/bar.ts';
import type { Engine } from '../engine/engine.ts';
import { lockRevisions } from '../engine/revisions.ts';
import { asText, onlyRow, type Sql } from '../engine/rows.ts';
import type { TradingDay } from '../symbols/origin.ts';
import type { FoldLimits } from '../ticks/day-pages.ts';
import { ticksSince } from '../ticks/day-ticks.ts';
import type { FoldedDay } from '../ticks/fold-day.ts';
import { isMarked } from '../ticks/mark-days.ts';
import type { LedgerTick } from '../ticks/tick.ts';
import {
  type BarRevision,
  LATE_TICKS,
  type NewBar,
  PROVISIONAL,
  readRevisions,
  SESSION_CLOSE,
  TICK_REASONS,
} from './bars.ts';
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

/**
 * Which ticks make up the bar of a day: those made by the settlement or, for the final bar, by a later moment, except for
 * withdrawn ones. Undefined if the current bar stays, whatever the ticks: a bar of an import or a feed takes precedence.
 */
export function limitsOf(
  current: BarRevision | undefined,
  madeBy: number,
  isFinal: boolean,
): FoldLimits | undefined {
  const receivedAfter = current?.ticksWithdrawnUntil;
  const limits = {
    madeBy,
    receivedBy: Number.MAX_SAFE_INTEGER,
    ...(receivedAfter !== undefined && { receivedAfter }),
  };
  if (current?.withdrawn) return limits;
  if (current && !TICK_REASONS.has(current.reason)) return undefined;
  if (current && !isFinal && current.reason !== PROVISIONAL) return undefined;
  return limits;
}

/** The bar to publish for a day, from its ticks within `limitsOf`. Undefined if the current bar stays. */
export function closingOf(
  current: BarRevision | undefined,
  folded: FoldedDay | undefined,
  isFinal: boolean,
): Closing | undefined {
  if (!folded) return undefined;
  // If the bar's own ticks were deleted, a late tick alone does not make up the day.
  if (current && !current.withdrawn && folded.firstRevision >= current.revision) return undefined;
  return closingWith(current, { ...ohlcOf(folded), sourceId: folded.close.sourceId }, isFinal);
}

/** The bar to publish for a day whose ticks make up these prices. Undefined if it has them. */
export function closingWith(
  current: BarRevision | undefined,
  closing: Omit<Closing, 'reason'>,
  isFinal: boolean,
): Closing | undefined {
  if (!current || current.withdrawn) {
    return { ...closing, reason: isFinal ? SESSION_CLOSE : PROVISIONAL };
  }
  if (sameOhlc(current, closing)) return undefined;
  if (!isFinal) return { ...closing, reason: PROVISIONAL };
  return { ...closing, reason: current.reason === PROVISIONAL ? SESSION_CLOSE : LATE_TICKS };
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
