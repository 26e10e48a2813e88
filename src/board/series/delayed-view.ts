import { type BarRevision, PROVISIONAL } from '../../ledger/prices/bars.ts';
import type { LedgerTick } from '../../ledger/ticks/tick.ts';
import { type Fold, foldTick, ohlcOf } from '../../market/bar.ts';
import type { Day } from '../../market/day.ts';
import { outlivesWithdrawal, tickSeenFrom } from '../../market/visibility.ts';
import { DueQueue } from './due-queue.ts';
import type { LatestPrice, SourcedBar } from './price-types.ts';
import type { TickLog } from './tick-log.ts';

/** The first changed day if nothing has changed, and if any day may have. */
export const NO_CHANGE = Number.POSITIVE_INFINITY;
export const EVERY_DAY = Number.NEGATIVE_INFINITY;

/** A bar or the end of a session, which a view shows once its horizon reaches `seenFrom`. */
type Pending = { seenFrom: number } & ({ bar: BarRevision } | { sessionEnded: Day });

/** The visible ticks of one trade date. */
interface DayFold {
  fold: Fold<LedgerTick> | undefined;
  sessionEnded: boolean;
  /** If ticks of the day were withdrawn: those that still count, by the moment up to which others do not. */
  after: Map<number, Fold<LedgerTick> | undefined>;
}

/** The settled part of a history, as its views read it. */
export interface SettledBars {
  /** The settled bar of a recent day. */
  recent(day: Day): BarRevision | undefined;
  /** The newest settled bar. */
  readonly newest: BarRevision | undefined;
  sessionEnd(day: Day): number;
}

/** A view that shows something new, and the first day that may have changed. */
export interface ChangedView {
  index: number;
  from: Day;
}

/**
 * What a plan with a certain delay sees of a history's recent days, on top of the settled bars that all plans see:
 *
 *     settled bars ──────────────────────────┐    the same for every view
 *     unsettled bars ───────────►─┐          ▼
 *     ticks, folded by day ─────►─┴─► overlay, latest
 *          ▲
 *     pending: not visible yet; each is taken when the horizon reaches it
 */
export class DelayedView {
  readonly #settled: SettledBars;
  readonly #log: TickLog;
  /** Ticks that arrived out of order. */
  readonly #outOfOrder = new DueQueue<LedgerTick>(tickSeenFrom);
  readonly #pending = new DueQueue<Pending>(({ seenFrom }) => seenFrom);
  readonly #bars = new Map<Day, BarRevision>();
  readonly #folds = new Map<Day, DayFold>();
  /** The unsettled bars of days with withdrawn ticks. They are known before the ticks of their day are taken. */
  #withWithdrawnTicks: BarRevision[] = [];
  /** Bars of the days on which this view differs from the settled history, ascending. */
  overlay: readonly SourcedBar[] = [];
  latest: LatestPrice | undefined;

  /** The number of the next tick to take from the log. */
  next: number;

  constructor(settled: SettledBars, log: TickLog) {
    this.#settled = settled;
    this.#log = log;
    this.next = log.end;
  }

  /** The horizon at which the next bar or tick becomes visible; Infinity if there is none. */
  get nextSeenFrom(): number {
    return Math.min(this.#log.seenFrom(this.next), this.#outOfOrder.dueAt, this.#pending.dueAt);
  }

  /** Starts a day with ticks that the database has folded. They are visible at the view's first horizon. */
  startDay(day: Day, fold: Fold<LedgerTick>): void {
    this.#addDay(day);
    this.#foldOf(day).fold = fold;
  }

  /** Adds a pending tick. One that is not in the log is queued here. */
  addTick(tick: LedgerTick, isLogged: boolean): void {
    this.#addDay(tick.day);
    if (!isLogged) this.#outOfOrder.add(tick);
  }

  #addDay(day: Day): void {
    if (this.#folds.has(day)) return;
    this.#foldOf(day);
    this.#pending.add({ seenFrom: this.#settled.sessionEnd(day), sessionEnded: day });
  }

  addBar(bar: BarRevision, seenFrom: number): void {
    this.#pending.add({ seenFrom, bar });
    if (bar.ticksWithdrawnUntil !== undefined) this.#withWithdrawnTicks.push(bar);
  }

  hasTicks(day: Day): boolean {
    return this.#folds.has(day);
  }

  /** Takes what the horizon has reached, but at most `ticksMax` ticks. Returns the first day that may have changed. */
  advance(horizon: number, ticksMax = Number.POSITIVE_INFINITY): Day {
    let changedFrom = NO_CHANGE;
    for (let left = ticksMax; left > 0 && this.#log.seenFrom(this.next) <= horizon; left--) {
      changedFrom = Math.min(changedFrom, this.#takeTick(this.#log.tick(this.next++)));
    }
    for (let tick = this.#outOfOrder.take(horizon); tick; tick = this.#outOfOrder.take(horizon)) {
      changedFrom = Math.min(changedFrom, this.#takeTick(tick));
    }
    for (let entry = this.#pending.take(horizon); entry; entry = this.#pending.take(horizon)) {
      changedFrom = Math.min(changedFrom, this.#takePending(entry));
    }
    return changedFrom;
  }

  /** Drops bars that are now in the settled history, and ticks that are no longer needed. */
  dropSettled(settledDays: readonly Day[], canDropTicks: (day: Day) => boolean): void {
    for (const day of settledDays) this.#bars.delete(day);
    this.#withWithdrawnTicks = this.#withWithdrawnTicks.filter(({ day }) => !settledDays.includes(day));
    for (const day of this.#folds.keys()) if (canDropTicks(day)) this.#folds.delete(day);
  }

  /** Recomputes the overlay and the latest price after something became visible or settled. */
  refresh(): void {
    const days = [...new Set([...this.#bars.keys(), ...this.#folds.keys()])].sort((a, b) => a - b);
    this.overlay = days.map((day) => this.#overlayOf(day)).filter((bar) => bar !== undefined);
    this.latest = this.#latestPrice();
  }

  #takeTick(tick: LedgerTick): Day {
    const day = this.#foldOf(tick.day);
    day.fold = foldTick(day.fold, tick);
    for (const [until, fold] of day.after) {
      if (outlivesWithdrawal(tick, until)) day.after.set(until, foldTick(fold, tick));
    }
    return tick.day;
  }

  /** A withdrawal can change the first and the newest day, and so what is shown of all others. */
  #takePending(entry: Pending): Day {
    if ('bar' in entry) {
      this.#takeBar(entry.bar);
      return entry.bar.withdrawn ? EVERY_DAY : entry.bar.day;
    }
    this.#foldOf(entry.sessionEnded).sessionEnded = true;
    return entry.sessionEnded;
  }

  #foldOf(day: Day): DayFold {
    return this.#folds.getOrInsertComputed(day, () => {
      const unsettled = this.#withWithdrawnTicks.filter((bar) => bar.day === day);
      const until = [this.#settled.recent(day), ...unsettled].map((bar) => bar?.ticksWithdrawnUntil);
      const after = new Map(until.filter((ms) => ms !== undefined).map((ms) => [ms, undefined]));
      return { fold: undefined, sessionEnded: false, after };
    });
  }

  #takeBar(bar: BarRevision): void {
    const known = this.#bars.get(bar.day);
    if (!known || known.revision < bar.revision) this.#bars.set(bar.day, bar);
  }

  /** The newest published bar of a day, settled or not. */
  #published(day: Day): BarRevision | undefined {
    const settled = this.#settled.recent(day);
    const unsettled = this.#bars.get(day);
    return unsettled && (!settled || settled.revision < unsettled.revision) ? unsettled : settled;
  }

  /** The bar of a day, if it is not the settled one. A published bar wins over the fold of the day's ticks. */
  #overlayOf(day: Day): SourcedBar | undefined {
    const published = this.#published(day);
    if (published && !published.withdrawn) {
      return published === this.#settled.recent(day) ? undefined : published;
    }
    const fold = this.#effectiveFold(day);
    return fold && { day, ...ohlcOf(fold), sourceId: fold.close.sourceId };
  }

  /** The fold of a day's ticks, without withdrawn ones. */
  #effectiveFold(day: Day): Fold<LedgerTick> | undefined {
    const folds = this.#folds.get(day);
    const until = this.#published(day)?.ticksWithdrawnUntil;
    return until === undefined ? folds?.fold : folds?.after.get(until);
  }

  /**
   * The later day wins. On the same day a tick wins over a bar first recorded before it until the session ends, and if it was made
   * after that; and over a provisional bar until the final bar is published.
   */
  #latestPrice(): LatestPrice | undefined {
    let barDay = this.#settled.newest?.day ?? Number.NEGATIVE_INFINITY;
    for (const day of this.#bars.keys()) {
      if (!this.#published(day)!.withdrawn) barDay = Math.max(barDay, day);
    }
    const bar = this.#published(barDay) ?? this.#settled.newest;

    let last: { tick: LedgerTick; sessionEnded: boolean } | undefined;
    for (const [day, { sessionEnded }] of this.#folds) {
      const fold = this.#effectiveFold(day);
      if (fold && (!last || fold.close.day > last.tick.day)) last = { tick: fold.close, sessionEnded };
    }
    if (last && (!bar || last.tick.day > bar.day || this.#overrides(bar, last))) {
      const { price, day, at, sourceId } = last.tick;
      return { price, day, at, sourceId };
    }
    return bar && { price: bar.close, day: bar.day, at: undefined, sourceId: bar.sourceId };
  }

  #overrides(bar: BarRevision, { tick, sessionEnded }: { tick: LedgerTick; sessionEnded: boolean }): boolean {
    if (tick.day !== bar.day) return false;
    if (bar.reason === PROVISIONAL) return true;
    const isAfterSession = tick.at > this.#settled.sessionEnd(tick.day);
    // A restored bar gives way to the ticks that the first one gave way to.
    return tick.revision > (bar.restores ?? bar.revision) && (!sessionEnded || isAfterSession);
  }
}
