import type { Ledger } from '../../ledger/ledger.ts';
import { type BarRevision, PROVISIONAL, type PriceOrigin } from '../../ledger/prices/bars.ts';
import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import type { LedgerTick } from '../../ledger/ticks/ticks.ts';
import { type Day, EARLIEST_DAY, LAST_DAY } from '../../market/day.ts';
import { type Market, marketOf, sessionEnd } from '../../market/session.ts';
import { barSeenFrom, isBarSeen, tickSeenFrom } from '../../market/visibility.ts';
import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import { Columns } from './columns.ts';
import { DelayedView, type SettledBars } from './delayed-view.ts';
import { DueQueue } from './due-queue.ts';
import { TickLog } from './tick-log.ts';

/** How far the views of all plans are behind the clock, in ms, ascending: their delays, and more after a step of the clock. */
export type Delays = readonly number[];

/** How many days before the last bar are always at hand, so that the newest settled bar is among them. */
const RECENT_DAYS = 20;
/** How many days of a history are read at once. */
const DAYS_AT_ONCE = 2_000;
/** About 1 ms of work. */
const TICKS_PER_SLICE = 1_000;
const LAST_MOMENT = Number.POSITIVE_INFINITY;
const NO_DAYS = { firstDay: 0, lastDay: -1 };

/**
 * One history of a symbol, real or simulated. A bar is settled when every view sees it: then it is in the
 * columns (once they are loaded) and, if it is not old, among the recent days. What is younger is in the views.
 */
export class PriceHistory implements SettledBars {
  readonly origin: PriceOrigin;
  readonly views: readonly DelayedView[];
  readonly #symbolId: number;
  readonly #market: Market;
  readonly #delays: Delays;
  readonly #log: TickLog;
  readonly #recent = new Map<Day, BarRevision>();
  #recentFrom: Day = EARLIEST_DAY;
  #young: BarRevision[] = [];
  #settledChanged = false;
  firstDay: Day | undefined;
  newest: BarRevision | undefined;
  columns: Columns | undefined;

  constructor(symbol: LedgerSymbol, origin: PriceOrigin, delays: Delays) {
    this.origin = origin;
    this.#symbolId = symbol.id;
    this.#market = marketOf(symbol.market);
    this.#delays = delays;
    this.#log = new TickLog(symbol.id);
    this.views = delays.map(() => new DelayedView(this, this.#log));
  }

  /** Whether every view shows something of it. */
  get showsEverywhere(): boolean {
    return this.views.every((view) => view.latest !== undefined);
  }

  recent(day: Day): BarRevision | undefined {
    return this.#recent.get(day);
  }

  sessionEnd(day: Day): number {
    return sessionEnd(this.#market, day);
  }

  /** When the next thing shows in one of the views, or settles, in ms. */
  get nextDue(): number {
    let next = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.views.length; i++) {
      next = Math.min(next, this.views[i]!.nextSeenFrom + this.#delays[i]!);
    }
    return next;
  }

  /** Reads the recent days from the ledger: enough for the newest price and for every day that is not settled. */
  async loadRecent(ledger: Ledger, now: number): Promise<void> {
    const span = await ledger.bars.span(this.#symbolId, this.origin);
    const tickDays = await ledger.ticks.days(this.#symbolId, this.origin);
    if (span) {
      const from = Math.min(span.lastDay - RECENT_DAYS, tickDays[0] ?? LAST_DAY);
      await this.#readRecent(ledger, from, now);
      if (!this.newest && span.firstDay < from) await this.#readRecent(ledger, span.firstDay, now);
      // Bars before the recent ones are settled: only recent ones can be young.
      const first = await ledger.bars.firstDay(this.#symbolId, this.origin);
      this.firstDay = first !== undefined && first < this.#recentFrom ? first : this.#recentDays()[0];
    }
    await this.#loadTicks(ledger, tickDays, now);
    await this.#catchUp(now);
  }

  /**
   * Reads the ticks of days whose bar is not settled. What every view sees already is folded by the database; only the
   * ticks that some view must not show yet are kept one by one. So are those of a day with a withdrawal, which divides them.
   */
  async #loadTicks(ledger: Ledger, days: readonly Day[], now: number): Promise<void> {
    const seenByAll = now - this.#delays.at(-1)!;
    const young = new DueQueue<LedgerTick>(tickSeenFrom);
    for (const day of days) {
      if (this.#ticksAreOver(day, now)) continue;
      const foldedBy = this.#hasWithdrawal(day) ? Number.MIN_SAFE_INTEGER : seenByAll;
      const fold = await ledger.ticks.fold(
        { symbolId: this.#symbolId, origin: this.origin, day },
        { madeBy: foldedBy, receivedBy: foldedBy, onOther: (tick) => young.add(tick) },
      );
      if (fold) for (const view of this.views) view.startDay(day, fold);
    }
    let added = 0;
    for (let tick = young.take(LAST_MOMENT); tick; tick = young.take(LAST_MOMENT)) {
      this.addTick(tick, now);
      if (++added % TICKS_PER_SLICE === 0 && shouldYield()) await yieldToRequests();
    }
  }

  #hasWithdrawal(day: Day): boolean {
    const bars = [this.#recent.get(day), ...this.#young];
    return bars.some((bar) => bar?.day === day && bar.withdrawn !== false);
  }

  /** Moves every view on to `now` for the first time: `advance`, a slice at a time. */
  async #catchUp(now: number): Promise<void> {
    for (const [i, view] of this.views.entries()) {
      const horizon = now - this.#delays[i]!;
      while (view.nextSeenFrom <= horizon) {
        view.advance(horizon, TICKS_PER_SLICE);
        if (shouldYield()) await yieldToRequests();
      }
    }
    this.#settledChanged = true; // every view is new
    this.advance(now);
  }

  async #readRecent(ledger: Ledger, from: Day, now: number): Promise<void> {
    this.#recentFrom = from;
    for (const bar of await ledger.bars.revisions(this.#symbolId, this.origin, from, LAST_DAY))
      this.addBar(bar, now);
  }

  /** Reads the history, a piece at a time: a century of days takes tens of milliseconds, and others want to be answered. */
  async loadColumns(ledger: Ledger, now: number): Promise<void> {
    const { firstDay, lastDay } = (await ledger.bars.span(this.#symbolId, this.origin)) ?? NO_DAYS;
    const columns = new Columns();
    for (let from = firstDay; from <= lastDay; from += DAYS_AT_ONCE) {
      if (shouldYield()) await yieldToRequests();
      const to = from + DAYS_AT_ONCE - 1;
      for (const bar of await ledger.bars.revisions(this.#symbolId, this.origin, from, to)) {
        // A withdrawal that some views do not see yet is in the views, and so is what it withdraws.
        if (bar.withdrawn) columns.remove(bar.day);
        else if (this.#isSettled(bar, now)) columns.set(bar.day, bar, bar.sourceId);
      }
    }
    columns.trim();
    this.columns = columns;
  }

  /** Of the history; the recent days stay. */
  letGoOfColumns(): void {
    this.columns?.forgetTexts();
    this.columns = undefined;
  }

  addBar(bar: BarRevision, now: number): void {
    if (this.#isSettled(bar, now)) {
      this.#settle(bar);
      this.#settledChanged = true;
      return;
    }
    if (bar.withdrawn) this.#unsettle(bar.day);
    this.#addYoung(bar);
  }

  #addYoung(bar: BarRevision): void {
    if (this.#young.some((known) => known.day === bar.day && known.revision === bar.revision)) return;
    this.#young.push(bar);
    for (const view of this.views) view.addBar(bar, this.#seenFrom(bar));
  }

  /** Whether a withdrawal of this day changes more than the day itself: the history must then be loaded again. */
  dependsOn(day: Day): boolean {
    return day === this.firstDay || day === this.newest?.day || this.views.some((view) => view.hasTicks(day));
  }

  /** Answers false when the tick is of a day so old that the history must be loaded anew to place it. */
  addTick(tick: LedgerTick, now: number): boolean {
    if (tick.day < this.#recentFrom) return false;
    // A late tick of a settled day is the closer's business: it publishes the day anew.
    if (this.#ticksAreOver(tick.day, now)) return true;
    const isLogged = this.#log.add(tick);
    for (const view of this.views) view.addTick(tick, isLogged);
    return true;
  }

  /** Moves every view on to `now`. Answers the indexes of the views that show something new. */
  advance(now: number): number[] {
    const changed: number[] = [];
    this.views.forEach((view, index) => {
      const cameIn = view.advance(now - this.#delays[index]!);
      if (cameIn || this.#settledChanged) changed.push(index);
    });
    this.#settledChanged = false;
    this.#log.letGo(this.views.reduce((least, { next }) => Math.min(least, next), this.#log.end));
    const settled = this.#young.filter(
      (bar) => this.#isSettled(bar, now) && !this.#awaitsWithdrawal(bar, now),
    );
    if (settled.length > 0) {
      this.#young = this.#young.filter((bar) => !settled.includes(bar));
      for (const bar of settled) this.#settle(bar);
    }
    const settledDays = this.#daysWithoutYoung(settled);
    const touched = settled.length > 0 ? this.views : changed.map((index) => this.views[index]!);
    for (const view of touched) {
      view.forget(settledDays, (day) => this.#ticksAreOver(day, now));
      view.refresh();
    }
    return changed;
  }

  #daysWithoutYoung(settled: readonly BarRevision[]): Day[] {
    const days = settled.map((bar) => bar.day);
    return days.filter((day) => !this.#young.some((bar) => bar.day === day));
  }

  #settle(bar: BarRevision): void {
    const known = this.#recent.get(bar.day);
    if (known && known.revision > bar.revision) return;
    if (bar.day >= this.#recentFrom) this.#recent.set(bar.day, bar);
    if (bar.withdrawn) {
      this.#remove(bar.day);
      return;
    }
    if (!this.newest || bar.day >= this.newest.day) this.newest = bar;
    if (this.firstDay === undefined || bar.day < this.firstDay) this.firstDay = bar.day;
    this.columns?.set(bar.day, bar, bar.sourceId);
  }

  /** Takes a bar back out of the settled ones, because some views see its withdrawal before others do. */
  #unsettle(day: Day): void {
    const settled = this.#recent.get(day);
    if (!settled || settled.withdrawn) return;
    this.#recent.delete(day);
    this.#remove(day);
    this.#addYoung(settled);
    this.#settledChanged = true;
  }

  #remove(day: Day): void {
    this.columns?.remove(day);
    if (this.newest?.day === day) this.newest = this.#recent.get(this.#recentDays().at(-1)!);
  }

  /** The recent days that have a settled bar, ascending. */
  #recentDays(): Day[] {
    const days = [...this.#recent.values()].filter((bar) => !bar.withdrawn).map((bar) => bar.day);
    return days.sort((a, b) => a - b);
  }

  /** Whether its withdrawal has come in and is not settled yet. */
  #awaitsWithdrawal({ day, revision }: BarRevision, now: number): boolean {
    return this.#young.some(
      (other) =>
        other.withdrawn && other.day === day && other.revision > revision && !this.#isSettled(other, now),
    );
  }

  /** Whether a day's ticks no longer matter to anyone: its session is over and its bar is settled. */
  #ticksAreOver(day: Day, now: number): boolean {
    const bar = this.#recent.get(day);
    if (!bar || bar.withdrawn || bar.reason === PROVISIONAL) return false;
    return this.sessionEnd(day) + this.#delays.at(-1)! <= now;
  }

  #seenFrom(bar: BarRevision): number {
    return barSeenFrom(this.sessionEnd(bar.day), bar.recordedAt);
  }

  /** Whether even the longest delay sees it. */
  #isSettled(bar: BarRevision, now: number): boolean {
    return isBarSeen(bar, this.#market, now - this.#delays.at(-1)!);
  }
}
