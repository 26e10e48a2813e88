import { type BarRevision, PROVISIONAL } from '../../ledger/prices/bars.ts';
import type { LedgerTick } from '../../ledger/ticks/ticks.ts';
import { type Fold, foldTick, ohlcOf } from '../../market/bar.ts';
import type { Day } from '../../market/day.ts';
import { outlivesWithdrawal, tickSeenFrom } from '../../market/visibility.ts';
import { DueQueue } from './due-queue.ts';
import type { LatestPrice, SourcedBar } from './price-types.ts';
import type { TickLog } from './tick-log.ts';

/** Something that shows in a view once its horizon has come to `seenFrom`: a bar, or the end of a session. */
type Pending = { seenFrom: number } & ({ bar: BarRevision } | { sessionOver: Day });

/** The ticks of one trade date, as far as a view sees them. */
interface DayFold {
  fold: Fold<LedgerTick> | undefined;
  sessionOver: boolean;
  /** Where the day's bar was withdrawn: by the revision of the withdrawal, the ticks that still count after it. */
  after: Map<number, { withdrawal: BarRevision; fold: Fold<LedgerTick> | undefined }>;
}

/** What the settled part of a history tells its views. */
export interface SettledBars {
  /** The settled bar of a recent day. */
  recent(day: Day): BarRevision | undefined;
  /** The newest settled bar. */
  readonly newest: BarRevision | undefined;
  sessionEnd(day: Day): number;
}

/**
 * What one plan delay sees of a history's recent days, over the settled history that all delays see alike:
 *
 *     settled bars ──────────────────────────┐    the same for every view
 *     young bars ───────────────►─┐          ▼
 *     ticks, folded by day ─────►─┴─► overlay, latest
 *          ▲
 *     pending: too young for this view; each comes in when the horizon reaches it
 */
export class DelayedView {
  readonly #settled: SettledBars;
  readonly #log: TickLog;
  /** Ticks that came out of order. */
  readonly #late = new DueQueue<LedgerTick>(tickSeenFrom);
  readonly #pending = new DueQueue<Pending>(({ seenFrom }) => seenFrom);
  readonly #bars = new Map<Day, BarRevision>();
  readonly #folds = new Map<Day, DayFold>();
  /** Of days that are not settled. A withdrawal is known before the ticks of its day are taken in. */
  #withdrawals: BarRevision[] = [];
  /** The days on which this view differs from the settled history, ascending. */
  overlay: readonly SourcedBar[] = [];
  latest: LatestPrice | undefined;

  /** The number in the log of the next tick to come in. */
  next: number;

  constructor(settled: SettledBars, log: TickLog) {
    this.#settled = settled;
    this.#log = log;
    this.next = log.end;
  }

  /** The horizon at which the next pending thing shows; Infinity when there is none. */
  get nextSeenFrom(): number {
    return Math.min(this.#log.seenFrom(this.next), this.#late.dueAt, this.#pending.dueAt);
  }

  /** Begins a day with ticks that were folded before this view was made. They are visible at its first horizon. */
  startDay(day: Day, fold: Fold<LedgerTick>): void {
    this.#addDay(day);
    this.#foldOf(day).fold = fold;
  }

  /** A tick is to come. It is in the log, or else it is kept here. */
  addTick(tick: LedgerTick, isLogged: boolean): void {
    this.#addDay(tick.day);
    if (!isLogged) this.#late.add(tick);
  }

  #addDay(day: Day): void {
    if (this.#folds.has(day)) return;
    this.#foldOf(day);
    this.#pending.add({ seenFrom: this.#settled.sessionEnd(day), sessionOver: day });
  }

  addBar(bar: BarRevision, seenFrom: number): void {
    this.#pending.add({ seenFrom, bar });
    if (bar.withdrawn) this.#withdrawals.push(bar);
  }

  hasTicks(day: Day): boolean {
    return this.#folds.has(day);
  }

  /** Takes in what the horizon has reached, or at most `ticksMax` ticks of it. Returns whether anything came in. */
  advance(horizon: number, ticksMax = Number.POSITIVE_INFINITY): boolean {
    let cameIn = false;
    for (let left = ticksMax; left > 0 && this.#log.seenFrom(this.next) <= horizon; left--) {
      this.#takeTick(this.#log.tick(this.next++));
      cameIn = true;
    }
    for (let tick = this.#late.take(horizon); tick; tick = this.#late.take(horizon)) {
      this.#takeTick(tick);
      cameIn = true;
    }
    for (let entry = this.#pending.take(horizon); entry; entry = this.#pending.take(horizon)) {
      if ('bar' in entry) this.#takeBar(entry.bar);
      else this.#foldOf(entry.sessionOver).sessionOver = true;
      cameIn = true;
    }
    return cameIn;
  }

  /** Lets go of young bars that are now in the settled history, and of ticks that can no longer matter. */
  forget(settledDays: readonly Day[], ticksAreOver: (day: Day) => boolean): void {
    for (const day of settledDays) this.#bars.delete(day);
    this.#withdrawals = this.#withdrawals.filter(({ day }) => !settledDays.includes(day));
    for (const day of this.#folds.keys()) if (ticksAreOver(day)) this.#folds.delete(day);
  }

  /** Works out the overlay and the newest price anew, after something came in or was settled. */
  refresh(): void {
    const days = [...new Set([...this.#bars.keys(), ...this.#folds.keys()])].sort((a, b) => a - b);
    this.overlay = days.map((day) => this.#overlayOf(day)).filter((bar) => bar !== undefined);
    this.latest = this.#newestPrice();
  }

  #takeTick(tick: LedgerTick): void {
    const day = this.#foldOf(tick.day);
    day.fold = foldTick(day.fold, tick);
    for (const one of day.after.values()) {
      if (outlivesWithdrawal(tick, one.withdrawal)) one.fold = foldTick(one.fold, tick);
    }
  }

  #foldOf(day: Day): DayFold {
    return this.#folds.getOrInsertComputed(day, () => {
      const settled = this.#settled.recent(day);
      const young = this.#withdrawals.filter((bar) => bar.day === day);
      const known = settled?.withdrawn ? [settled, ...young] : young;
      const after = new Map(known.map((bar) => [bar.revision, { withdrawal: bar, fold: undefined }]));
      return { fold: undefined, sessionOver: false, after };
    });
  }

  #takeBar(bar: BarRevision): void {
    const known = this.#bars.get(bar.day);
    if (!known || known.revision < bar.revision) this.#bars.set(bar.day, bar);
  }

  /** The published bar of a day, settled or young, where the young one is the newer. */
  #published(day: Day): BarRevision | undefined {
    const settled = this.#settled.recent(day);
    const young = this.#bars.get(day);
    return young && (!settled || settled.revision < young.revision) ? young : settled;
  }

  /** A day's bar where it is not the settled one. A published bar wins over the fold of the day's ticks. */
  #overlayOf(day: Day): SourcedBar | undefined {
    const published = this.#published(day);
    if (published && !published.withdrawn) {
      return published === this.#settled.recent(day) ? undefined : published;
    }
    const fold = this.#effectiveFold(day);
    return fold && { day, ...ohlcOf(fold), sourceId: fold.close.sourceId };
  }

  /** The fold of a day's ticks; after a withdrawal, of those that outlive it. */
  #effectiveFold(day: Day): Fold<LedgerTick> | undefined {
    const folds = this.#folds.get(day);
    const published = this.#published(day);
    return published?.withdrawn ? folds?.after.get(published.revision)?.fold : folds?.fold;
  }

  /**
   * The later day wins. On one day a tick wins if it was learnt after the bar, until the session is over; over a
   * provisional bar it wins until the session's own bar is there.
   */
  #newestPrice(): LatestPrice | undefined {
    let barDay = this.#settled.newest?.day ?? Number.NEGATIVE_INFINITY;
    for (const day of this.#bars.keys()) {
      if (!this.#published(day)!.withdrawn) barDay = Math.max(barDay, day);
    }
    const bar = this.#published(barDay) ?? this.#settled.newest;

    let last: { tick: LedgerTick; sessionOver: boolean } | undefined;
    for (const [day, { sessionOver }] of this.#folds) {
      const fold = this.#effectiveFold(day);
      if (fold && (!last || fold.close.day > last.tick.day)) last = { tick: fold.close, sessionOver };
    }
    if (last && (!bar || last.tick.day > bar.day || this.#winsOver(bar, last))) {
      const { price, day, at, sourceId } = last.tick;
      return { price, day, at, sourceId };
    }
    return bar && { price: bar.close, day: bar.day, at: undefined, sourceId: bar.sourceId };
  }

  #winsOver(bar: BarRevision, { tick, sessionOver }: { tick: LedgerTick; sessionOver: boolean }): boolean {
    if (tick.day !== bar.day) return false;
    return bar.reason === PROVISIONAL || (!sessionOver && tick.revision > bar.revision);
  }
}
