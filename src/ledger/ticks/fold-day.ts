import { type Fold, foldTick } from '../../market/bar.ts';
import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import type { Engine } from '../engine/engine.ts';
import type { TradingDay } from '../symbols/origin.ts';
import {
  combine,
  DayPages,
  FIRST_MOMENT,
  type FoldLimits,
  LAST_MOMENT,
  type MomentRange,
  type Summary,
} from './day-pages.ts';
import type { LedgerTick } from './tick.ts';

/** A day's ticks, folded in the database. */
export interface FoldedDay extends Fold<LedgerTick> {
  /** The lowest revision of its ticks. */
  firstRevision: number;
}

/** About 1 ms of work. */
const TICKS_PER_SLICE = 1_000;
/** A request may wait for the first page, to find out whether there are many ticks. Most days have no more. */
const FIRST_PAGE_TICKS = 200;

/**
 * Folds one day's ticks inside the database, one page of the index `tick_by_day` at a time:
 *
 *     at   ──►  [ page ][ page ][ page ]…        one row for each: its end, low, high, first and last moment
 *                       [ page ][ page ]…        the opening and the closing tick are read at the end
 *                  │ yield │ yield │
 *
 * After the first page, the rest of the day is divided into as many parts as the engine reads at the same time. The cost
 * does not depend on the order of the rows on disk. The thread yields to requests between pages. Ticks that are inserted
 * during the fold may or may not be included.
 */
export async function foldDay(
  engine: Engine,
  of: TradingDay,
  limits: FoldLimits,
): Promise<FoldedDay | undefined> {
  const pages = new DayPages(engine, of, limits);
  const first = await pages.next(FIRST_MOMENT, FIRST_PAGE_TICKS);
  await report(first.others, limits);
  let sum = first.summary;
  if (first.upTo < LAST_MOMENT) {
    await limits.onNextPage?.();
    const ranges = await divideRest(pages, first.upTo, engine.parallelReads);
    const parts = await Promise.all(ranges.map((range) => foldRange(pages, range, limits)));
    for (const part of parts) {
      sum = combine(sum, part.summary);
      await report(part.others, limits);
    }
  }
  if (!sum || limits.signal?.aborted) return undefined;
  const [opening, closing] = await Promise.all([pages.at(sum.firstAt), pages.at(sum.lastAt)]);
  return {
    open: firstOf(opening),
    close: lastOf(closing),
    high: sum.high,
    low: sum.low,
    firstRevision: sum.firstRevision,
  };
}

/** Divides what comes after a moment into parts of equal duration. */
async function divideRest(pages: DayPages, after: number, count: number): Promise<MomentRange[]> {
  if (count === 1) return [{ after, upTo: LAST_MOMENT }];
  const step = Math.ceil(((await pages.lastMoment()) - after) / count);
  return Array.from({ length: count }, (_, i) => ({
    after: after + i * step,
    upTo: i === count - 1 ? LAST_MOMENT : after + (i + 1) * step,
  }));
}

async function foldRange(
  day: DayPages,
  { after, upTo }: MomentRange,
  { signal, onNextPage }: FoldLimits,
): Promise<{ summary: Summary | undefined; others: LedgerTick[] }> {
  const pages = day.upTo(upTo);
  let summary: Summary | undefined;
  const others: LedgerTick[] = [];
  for (let from = after; from < upTo; ) {
    if (shouldYield()) await yieldToRequests();
    await onNextPage?.();
    if (signal?.aborted) break;
    const page = await pages.next(from);
    summary = combine(summary, page.summary);
    for (const tick of page.others) others.push(tick);
    from = page.upTo;
  }
  return { summary, others };
}

async function report(others: readonly LedgerTick[], { onOther, signal }: FoldLimits): Promise<void> {
  for (const [i, tick] of others.entries()) {
    if (i % TICKS_PER_SLICE === 0 && shouldYield()) await yieldToRequests();
    if (signal?.aborted) return;
    onOther?.(tick);
  }
}

/** Adds one tick to the fold, if it is within the limits. */
export function withTick(
  folded: FoldedDay | undefined,
  tick: LedgerTick,
  { receivedAfter = FIRST_MOMENT, madeBy, receivedBy }: FoldLimits,
): FoldedDay | undefined {
  if (tick.at > madeBy || tick.received <= receivedAfter || tick.received > receivedBy) return folded;
  const firstRevision = Math.min(folded?.firstRevision ?? tick.revision, tick.revision);
  return { ...foldTick<LedgerTick>(folded, tick), firstRevision };
}

function firstOf(ticks: readonly LedgerTick[]): LedgerTick {
  return foldAll(ticks).open;
}

/** The closing tick. */
export function lastOf(ticks: readonly LedgerTick[]): LedgerTick {
  return foldAll(ticks).close;
}

/** The rule for ticks of one moment is that of `foldTick`. The source that was known first goes first. */
function foldAll(ticks: readonly LedgerTick[]): Fold<LedgerTick> {
  let fold: Fold<LedgerTick> | undefined;
  for (const tick of ticks.toSorted((a, b) => a.sourceId - b.sourceId)) fold = foldTick(fold, tick);
  return fold!;
}
