import { type Fold, foldTick } from '../../market/bar.ts';
import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import type { Engine } from '../engine/engine.ts';
import { Lookup } from '../engine/lookup.ts';
import type { TradingDay } from '../symbols/origin.ts';
import { combine, DayPages, type FoldLimits, type MomentRange, type Summary } from './day-pages.ts';
import { FIRST_MOMENT, firstPage, LAST_MOMENT, OWN_COLUMNS } from './page-statements.ts';
import type { LedgerTick } from './tick.ts';

/** A day's ticks, folded in the database. */
export interface FoldedDay extends Fold<LedgerTick> {
  /** The lowest revision of its ticks. */
  firstRevision: number;
}

/** About 1 ms of work. */
const TICKS_PER_SLICE = 1_000;
/**
 * A request may wait for the first page, to find out whether there are many ticks. Most days have no more. Up to about 200 ticks,
 * SQLite returns them as fast as it aggregates them.
 */
const FIRST_PAGE_TICKS = 100;

/**
 * Folds one day's ticks. The first page of a day is read as it is, for many symbols at the same time. If there are more ticks, the
 * rest is folded inside the database, one page of the index `tick_by_day` at a time:
 *
 *     at   ──►  [ first ][ page ][ page ]…        one row for each: its end, low, high, first and last moment
 *                        [ page ][ page ]…        the opening and the closing tick are read at the end
 *                   │ yield │ yield │
 *
 * The rest of the day is divided into as many parts as the engine reads at the same time. The cost does not depend on the order
 * of the rows on disk. The thread yields to requests between pages. Ticks that are inserted during the fold may or may not be
 * included.
 */
export class DayFolder {
  readonly #engine: Engine;
  readonly #firstTicks: Lookup;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#firstTicks = new Lookup(
      engine,
      { symbol_id: 'BIGINT', day: 'BIGINT' },
      (n) => `SELECT ${OWN_COLUMNS}, ${n.cell('position')} ${n.fromEach(firstPage(n, FIRST_PAGE_TICKS))}`,
    );
  }

  async fold(of: TradingDay, limits: FoldLimits): Promise<FoldedDay | undefined> {
    const pages = new DayPages(this.#engine, of, limits);
    const ticks = (await this.#firstTicks.find(of.symbolId, of.day)).map((row) => pages.toTick(row));
    ticks.sort((a, b) => a.at - b.at);
    const isWholeDay = ticks.length < FIRST_PAGE_TICKS;
    const first = pages.pageOf(ticks, FIRST_MOMENT, isWholeDay) ?? (await pages.next(FIRST_MOMENT));
    await report(first.others, limits);
    const rest = first.upTo < LAST_MOMENT ? await this.#foldRest(pages, first.upTo, limits) : undefined;
    const sum = combine(first.summary, rest);
    if (!sum || limits.signal?.aborted) return undefined;
    const ticksAt = async (moment: number) =>
      isWholeDay ? ticks.filter((tick) => tick.at === moment && pages.isFolded(tick)) : pages.at(moment);
    const [opening, closing] = await Promise.all([ticksAt(sum.firstAt), ticksAt(sum.lastAt)]);
    return {
      open: firstOf(opening),
      close: lastOf(closing),
      high: sum.high,
      low: sum.low,
      firstRevision: sum.firstRevision,
    };
  }

  async #foldRest(pages: DayPages, after: number, limits: FoldLimits): Promise<Summary | undefined> {
    await limits.onNextPage?.();
    const ranges = await divideRest(pages, after, this.#engine.parallelReads);
    const parts = await Promise.all(ranges.map((range) => foldRange(pages, range, limits)));
    let sum: Summary | undefined;
    for (const part of parts) {
      sum = combine(sum, part.summary);
      await report(part.others, limits);
    }
    return sum;
  }
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
