import type { Ledger } from '../../ledger/ledger.ts';
import type { BarRevision } from '../../ledger/prices/bars.ts';
import { closingOf, type Decide, limitsOf } from '../../ledger/prices/closing-store.ts';
import { type SymbolDay, symbolDayKey, type TradingDay } from '../../ledger/symbols/origin.ts';
import type { FoldLimits } from '../../ledger/ticks/day-pages.ts';
import { type FoldedDay, withTick } from '../../ledger/ticks/fold-day.ts';
import { type WorkBounds, WorkBudget } from '../../runtime/work-budget.ts';
import { ClosingProgress } from './progress.ts';
import { SessionCalendar } from './session-calendar.ts';

/** A transaction publishes this many bars, or those that were folded within this time. */
const DAYS_PER_TRANSACTION = 50;
const MS_PER_TRANSACTION = 100;
/** How often a day is folded again whose last ticks some plans may not see yet. */
const RECHECK_MS = 10 * 60_000;

/** A day whose ticks were folded, outside of any lock. */
interface FoldedSession {
  day: TradingDay;
  isFinal: boolean;
  limits: FoldLimits;
  current: BarRevision | undefined;
  folded: FoldedDay | undefined;
  /** Ticks up to this revision are in the fold. */
  revision: number;
}

/** One of the two kinds of bars that are published: provisional ones at settlement, and final ones. */
interface ClosingPass {
  now: number;
  work: WorkBudget;
  calendar: SessionCalendar;
  isFinal: boolean;
  /**
   * The bar of a day includes the ticks up to this moment, in ms. Ticks made after the session are included once every plan
   * sees them: the bar shows at once.
   */
  madeBy(day: SymbolDay): number;
}

/**
 * Turns the ticks of sessions that have settled or ended into bars. It follows the ledger by revision:
 *
 *     days with new ticks ─► waiting ─► fold, page by page ─► publish: a short transaction, with the ticks since the fold
 *                                       other work between pages
 *
 * All of it is done in bounded steps, so pushes and a stop never wait long, however many ticks there are.
 */
export class Closer {
  readonly #ledger: Ledger;
  readonly #progress: ClosingProgress;
  /** Days with ticks that are in no bar yet. */
  readonly #waiting = new Map<string, SymbolDay>();
  /** Waiting days whose provisional bar is up to date. */
  readonly #settled = new Set<string>();
  /** Waiting days with ticks that some plans may not see yet, and when to fold them again, in ms. */
  readonly #postponed = new Map<string, number>();
  /** Whether the last `close` left something that was due. */
  isBehind = false;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
    this.#progress = new ClosingProgress(ledger);
  }

  /** Publishes the bars that are due: provisional ones at settlement, final ones at the end. Returns how many. */
  async close(now: number, bounds: WorkBounds = {}): Promise<number> {
    for await (const days of this.#progress.newDays()) {
      for (const day of days) {
        this.#waiting.set(symbolDayKey(day), day);
        this.#settled.delete(symbolDayKey(day)); // a late tick may be from before the settlement
        this.#postponed.delete(symbolDayKey(day));
      }
    }
    const calendar = await SessionCalendar.read(this.#ledger);
    const visibleInAll = now - calendar.longestDelayMs;
    const waiting = [...this.#waiting.values()].filter((day) => calendar.has(day));
    waiting.sort((a, b) => a.day - b.day);
    const ended = waiting.filter((day) => calendar.endOf(day) <= now && !this.#isPostponed(day, now));
    const settled = waiting.filter((day) => this.#isSettlementDue(calendar, day, now));
    const work = new WorkBudget(bounds);
    const madeBy = (day: SymbolDay) => Math.max(calendar.endOf(day), visibleInAll);
    let written = await this.#closeAll(ended, { now, work, calendar, isFinal: true, madeBy });
    const settlement = (day: SymbolDay) => calendar.settlementOf(day)!;
    written += await this.#closeAll(settled, { now, work, calendar, isFinal: false, madeBy: settlement });
    this.isBehind =
      ended.some((day) => this.#waiting.has(symbolDayKey(day)) && !this.#isPostponed(day, now)) ||
      settled.some((day) => !this.#settled.has(symbolDayKey(day)));
    if (!this.isBehind) await this.#progress.save(now);
    return written;
  }

  async #closeAll(days: readonly SymbolDay[], pass: ClosingPass): Promise<number> {
    const { now, work } = pass;
    let written = 0;
    let group: FoldedSession[] = [];
    let groupMs = 0;
    for (const day of days) {
      if (work.isUsedUp) break;
      const startMs = performance.now();
      const prepared = await this.#prepare(day, pass);
      if (work.isAborted) break;
      work.stepDone();
      if (prepared) group.push(prepared);
      else await this.#finish(pass.calendar.tradingDayOf(day), pass.isFinal, pass.madeBy(day), now);
      groupMs += performance.now() - startMs;
      if (group.length < DAYS_PER_TRANSACTION && groupMs < MS_PER_TRANSACTION) continue;
      written += await this.#publish(group, now);
      group = [];
      groupMs = 0;
    }
    return written + (await this.#publish(group, now));
  }

  /** Folds the ticks of a day. Undefined if its bar stays as it is. A symbol with real prices gets no simulated bars. */
  async #prepare(
    waiting: SymbolDay,
    { work: { signal }, calendar, isFinal, madeBy }: ClosingPass,
  ): Promise<FoldedSession | undefined> {
    const ledger = this.#ledger;
    const day = calendar.tradingDayOf(waiting);
    const { prices } = await ledger.head();
    const current = (await ledger.bars.revisions(day.symbolId, day.origin, day.day, day.day)).at(-1);
    const limits = limitsOf(current, madeBy(day), isFinal);
    if (!limits) return undefined;
    const folded = await ledger.ticks.fold(day, { ...limits, ...(signal && { signal }) });
    return { day, isFinal, limits, current, folded, revision: prices };
  }

  /** Days whose bar changed after they were folded stay in the queue. */
  async #publish(group: readonly FoldedSession[], now: number): Promise<number> {
    if (group.length === 0) return 0;
    const byKey = new Map(group.map((one) => [symbolDayKey(one.day), one]));
    const changed = new Set<FoldedSession>();
    const decide: Decide = async (day, current, ticksSince) => {
      const one = byKey.get(symbolDayKey(day))!;
      if (current?.revision !== one.current?.revision) {
        changed.add(one);
        return undefined;
      }
      let { folded } = one;
      for (const tick of await ticksSince(one.revision)) folded = withTick(folded, tick, one.limits);
      return closingOf(current, folded, one.isFinal);
    };
    const days = group.map((one) => one.day);
    const written = await this.#ledger.closing.publish(days, decide, now);
    for (const one of group) {
      if (!changed.has(one)) await this.#finish(one.day, one.isFinal, one.limits.madeBy, now);
    }
    return written;
  }

  /** Whether its last ticks were made after the session, and some plans may not see them yet. */
  #isPostponed(day: SymbolDay, now: number): boolean {
    return (this.#postponed.get(symbolDayKey(day)) ?? now) > now;
  }

  /** A day with later ticks is postponed, also if an import or the operator has replaced its bar: that may be undone. */
  async #finish(day: TradingDay, isFinal: boolean, madeBy: number, now: number): Promise<void> {
    const key = symbolDayKey(day);
    if (!isFinal) this.#settled.add(key);
    else if (await this.#ledger.ticks.hasAfter(day, madeBy)) this.#postponed.set(key, now + RECHECK_MS);
    else {
      this.#postponed.delete(key);
      this.#waiting.delete(key);
      this.#settled.delete(key);
    }
  }

  /** Simulated days have no settlement: their only bar comes from the random walk. */
  #isSettlementDue(calendar: SessionCalendar, day: SymbolDay, now: number): boolean {
    if (!calendar.isReal(day) || this.#settled.has(symbolDayKey(day)) || calendar.endOf(day) <= now)
      return false;
    return (calendar.settlementOf(day) ?? Number.POSITIVE_INFINITY) <= now;
  }
}
