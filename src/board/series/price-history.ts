import type { Ledger } from '../../ledger/ledger.ts';
import { type BarRevision, PROVISIONAL } from '../../ledger/prices/bars.ts';
import type { PriceOrigin } from '../../ledger/symbols/origin.ts';
import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import type { LedgerTick } from '../../ledger/ticks/tick.ts';
import { foldTick } from '../../market/bar.ts';
import { type Day, LAST_DAY } from '../../market/day.ts';
import { lastDayEnded, type Market, marketOf, sessionEnd } from '../../market/session.ts';
import { barSeenFrom, isBarSeen, tickSeenFrom } from '../../market/visibility.ts';
import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import { SettledBarStore } from './bars/settled-bar-store.ts';
import { UnsettledBars } from './bars/unsettled-bars.ts';
import { type ChangedView, DelayedView, EVERY_DAY, NO_CHANGE, type SettledBars } from './delayed-view.ts';
import { DueQueue } from './due-queue.ts';
import { loadColumns } from './load/load-columns.ts';
import { type LoadLevel, loadedSince } from './load/load-level.ts';
import type { ViewLags } from './price-types.ts';
import { TickLog } from './tick-log.ts';

/** About 1 ms of work. */
const TICKS_PER_SLICE = 1_000;
const LAST_MOMENT = Number.POSITIVE_INFINITY;

/**
 * The real or the simulated prices of a symbol. A bar is settled once every view shows it: it is then in the columns (if they
 * are loaded) and, if it is not old, among the recent days. The views hold what is not settled.
 */
export class PriceHistory implements SettledBars {
  readonly origin: PriceOrigin;
  readonly views: readonly DelayedView[];
  readonly #ledger: Ledger;
  readonly #symbolId: number;
  readonly #market: Market;
  readonly #lags: ViewLags;
  readonly #log: TickLog;
  /** For reading. */
  readonly settled = new SettledBarStore();
  readonly #unsettled = new UnsettledBars();
  /** From the first to the last day that ever had a bar. */
  #span: { firstDay: Day; lastDay: Day } | undefined;
  /** Days with ticks that were made after their session. Those are the latest price until there is a bar of a later day. */
  readonly #daysWithLateTicks = new Set<Day>();
  /** The first settled day that has changed since the views advanced. */
  #settledChangedFrom: Day = NO_CHANGE;

  constructor(ledger: Ledger, symbol: LedgerSymbol, origin: PriceOrigin, lags: ViewLags) {
    this.#ledger = ledger;
    this.origin = origin;
    this.#symbolId = symbol.id;
    this.#market = marketOf(symbol.market);
    this.#lags = lags;
    this.#log = new TickLog(symbol.id);
    this.views = lags.map(() => new DelayedView(this, this.#log));
  }

  /** Whether every view shows a price of it. */
  get isVisibleInAllViews(): boolean {
    return this.views.every((view) => view.latest !== undefined);
  }

  /** The first settled day. */
  get firstDay(): Day | undefined {
    return this.settled.firstDay;
  }

  get newest(): BarRevision | undefined {
    return this.settled.newest;
  }

  recent(day: Day): BarRevision | undefined {
    return this.settled.recent(day);
  }

  sessionEnd(day: Day): number {
    return sessionEnd(this.#market, day);
  }

  /** When the next bar or tick becomes visible in some view, or settles, in ms. */
  get nextDue(): number {
    let next = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.views.length; i++) {
      next = Math.min(next, this.views[i]!.nextSeenFrom + this.#lags[i]!);
    }
    return next;
  }

  /**
   * Reads the recent days from the ledger: enough for the newest price and for every day that is not settled. Waits for
   * `onNextPage` before each page of ticks.
   */
  async loadRecent(now: number, onNextPage: () => Promise<void>): Promise<void> {
    const tickDays = await this.#loadRecentBars(now);
    await this.#loadTicks(tickDays, now, onNextPage);
    await this.#catchUp(now);
  }

  /**
   * Like `loadRecent`, but reads no tick except the last one that each view shows. Then the latest prices are complete, and
   * nothing else is. Returns false if they depend on more ticks.
   */
  async loadLatest(now: number): Promise<boolean> {
    const tickDays = await this.#loadRecentBars(now);
    const horizons = this.#lags.map((lag) => now - lag);
    const missing = new Set(this.views);
    for (const day of tickDays.filter((one) => !this.#canDropTicks(one, now)).reverse()) {
      if (this.#hasWithdrawnTicks(day)) return false;
      const ticks = await this.#ledger.ticks.last(this.#ofDay(day), horizons);
      for (const [i, view] of this.views.entries()) {
        const tick = ticks[i];
        if (tick && missing.delete(view)) view.startDay(day, foldTick(undefined, tick));
      }
      if (missing.size === 0) break;
    }
    await this.#catchUp(now);
    return true;
  }

  /** Reads the recent bars. Returns the days that have ticks. */
  async #loadRecentBars(now: number): Promise<Day[]> {
    const [span, tickDays] = await Promise.all([
      this.#ledger.bars.recent.span(this.#symbolId, this.origin),
      this.#ledger.ticks.days(this.#symbolId, this.origin),
    ]);
    this.#span = span;
    if (span) {
      const from = Math.min(span.recentFrom, tickDays[0] ?? LAST_DAY);
      await this.#readRecent(from, now);
      if (!this.newest && span.firstDay < from) await this.#readRecent(span.firstDay, now);
      // Bars before the recent ones are settled.
      const first = await this.#ledger.bars.firstDay(this.#symbolId, this.origin, span);
      const settled = this.settled;
      settled.firstDay = first !== undefined && first < settled.recentFrom ? first : settled.recentDays()[0];
    }
    for (const day of tickDays) await this.#checkForLateTicks(day, now);
    return tickDays;
  }

  async #checkForLateTicks(day: Day, now: number): Promise<void> {
    const end = this.sessionEnd(day);
    if (end > now || day < (this.newest?.day ?? day)) return;
    if (await this.#ledger.ticks.hasAfter(this.#ofDay(day), end)) this.#daysWithLateTicks.add(day);
  }

  /**
   * Reads the ticks of days whose bar is not settled. The database folds those that every view shows; the others are held
   * one by one. So are all ticks of a day of which some were withdrawn.
   */
  async #loadTicks(days: readonly Day[], now: number, onNextPage: () => Promise<void>): Promise<void> {
    const visibleInAll = this.#earliestHorizon(now);
    const unfolded = new DueQueue<LedgerTick>(tickSeenFrom);
    const onOther = (tick: LedgerTick) => unfolded.add(tick);
    for (const day of days) {
      if (this.#canDropTicks(day, now)) continue;
      const foldedBy = this.#hasWithdrawnTicks(day) ? Number.MIN_SAFE_INTEGER : visibleInAll;
      const bounds = { madeBy: foldedBy, receivedBy: foldedBy, onOther, onNextPage };
      const fold = await this.#ledger.ticks.fold(this.#ofDay(day), bounds);
      if (fold) for (const view of this.views) view.startDay(day, fold);
    }
    let added = 0;
    for (let tick = unfolded.take(LAST_MOMENT); tick; tick = unfolded.take(LAST_MOMENT)) {
      this.addTick(tick, now);
      if (++added % TICKS_PER_SLICE === 0 && shouldYield()) await yieldToRequests();
    }
  }

  #hasWithdrawnTicks(day: Day): boolean {
    const settled = this.settled.recent(day);
    return settled?.ticksWithdrawnUntil !== undefined || this.#unsettled.hasWithdrawnTicks(day);
  }

  /** Advances new views to `now`, a slice at a time. */
  async #catchUp(now: number): Promise<void> {
    for (const [i, view] of this.views.entries()) {
      const horizon = now - this.#lags[i]!;
      while (view.nextSeenFrom <= horizon) {
        view.advance(horizon, TICKS_PER_SLICE);
        if (shouldYield()) await yieldToRequests();
      }
    }
    this.#settledChangedFrom = EVERY_DAY; // every view is new
    this.advance(now);
  }

  async #readRecent(from: Day, now: number): Promise<void> {
    this.settled.recentFrom = from;
    for (const bar of await this.#ledger.bars.recent.since(this.#symbolId, this.origin, from))
      this.addBar(bar, now);
  }

  /** Reads the settled history of the last two years, or all of it. Bars may be added meanwhile. */
  loadColumns(level: LoadLevel, now: number): Promise<void> {
    return this.settled.loadColumns(() =>
      loadColumns({
        ledger: this.#ledger,
        symbolId: this.#symbolId,
        origin: this.origin,
        span: this.#span,
        from: loadedSince(level, now),
        settledUntil: lastDayEnded(this.#earliestHorizon(now)),
        isSettled: (bar) => this.#isSettled(bar, now),
      }),
    );
  }

  dropColumns(): void {
    this.settled.dropColumns();
  }

  addBar(bar: BarRevision, now: number): void {
    const { firstDay, lastDay } = this.#span ?? { firstDay: bar.day, lastDay: bar.day };
    this.#span = { firstDay: Math.min(firstDay, bar.day), lastDay: Math.max(lastDay, bar.day) };
    if (this.#isSettled(bar, now)) {
      this.settled.add(bar);
      this.#settledChangedFrom = bar.withdrawn ? EVERY_DAY : Math.min(this.#settledChangedFrom, bar.day);
      return;
    }
    if (bar.withdrawn) this.#unsettle(bar.day);
    this.#addUnsettled(bar);
  }

  #addUnsettled(bar: BarRevision): void {
    if (!this.#unsettled.add(bar)) return;
    const seenFrom = barSeenFrom(this.sessionEnd(bar.day), bar.recordedAt);
    for (const view of this.views) view.addBar(bar, seenFrom);
  }

  /**
   * Whether the history must be loaded again because a new bar affects more than its day, or changes which ticks of the day count:
   * the views may have folded other ticks or, if a day without a bar is restored, have dropped them.
   */
  mustReload({ day, withdrawn, restores, ticksWithdrawnUntil }: BarRevision): boolean {
    if (withdrawn && (restores !== null || day === this.firstDay || day === this.newest?.day)) return true;
    return ticksWithdrawnUntil !== undefined && this.views.some((view) => view.hasTicks(day));
  }

  /** Returns false if the tick's day is so old that the history must be reloaded. */
  addTick(tick: LedgerTick, now: number): boolean {
    if (tick.day < this.settled.recentFrom) return false;
    if (this.#canDropTicks(tick.day, now)) {
      // The closer handles late ticks of a settled day: it publishes a new bar.
      return tick.at <= this.sessionEnd(tick.day) || tick.day < (this.newest?.day ?? tick.day);
    }
    if (tick.at > this.sessionEnd(tick.day)) this.#daysWithLateTicks.add(tick.day);
    const isLogged = this.#log.add(tick);
    for (const view of this.views) view.addTick(tick, isLogged);
    return true;
  }

  /** Advances every view to `now`. Returns the views that show something new. */
  advance(now: number): ChangedView[] {
    const changed: ChangedView[] = [];
    this.views.forEach((view, index) => {
      const from = Math.min(view.advance(now - this.#lags[index]!), this.#settledChangedFrom);
      if (from !== NO_CHANGE) changed.push({ index, from });
    });
    this.#settledChangedFrom = NO_CHANGE;
    this.#log.discardBefore(this.views.reduce((first, { next }) => Math.min(first, next), this.#log.end));
    const settled = this.#unsettled.takeSettled((bar) => this.#isSettled(bar, now));
    for (const bar of settled) this.settled.add(bar);
    const settledDays = settled.map((bar) => bar.day).filter((day) => !this.#unsettled.has(day));
    const affected = settled.length > 0 ? this.views : changed.map(({ index }) => this.views[index]!);
    for (const view of affected) {
      view.dropSettled(settledDays, (day) => this.#canDropTicks(day, now));
      view.refresh();
    }
    return changed;
  }

  /** Moves a settled bar back to the views, because some show its withdrawal before others. */
  #unsettle(day: Day): void {
    const settled = this.settled.take(day);
    if (!settled) return;
    this.#addUnsettled(settled);
    this.#settledChangedFrom = EVERY_DAY;
  }

  /** Whether no view needs the ticks of a day: its session is over and its bar is settled. */
  #canDropTicks(day: Day, now: number): boolean {
    const bar = this.settled.recent(day);
    if (!bar || bar.withdrawn || bar.reason === PROVISIONAL) return false;
    if (this.#daysWithLateTicks.has(day) && day >= (this.newest?.day ?? day)) return false;
    return this.sessionEnd(day) <= this.#earliestHorizon(now);
  }

  /** Whether every view shows it. */
  #isSettled(bar: BarRevision, now: number): boolean {
    return isBarSeen(bar, this.#market, this.#earliestHorizon(now));
  }

  /** The horizon of the view with the longest delay: what it shows, every view shows. */
  #earliestHorizon(now: number): number {
    return now - this.#lags.at(-1)!;
  }

  #ofDay(day: Day) {
    return { symbolId: this.#symbolId, origin: this.origin, day };
  }
}
