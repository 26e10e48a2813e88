import type { Ledger } from '../../ledger/ledger.ts';
import type { BarRevision } from '../../ledger/prices/bars.ts';
import { closingOf, type Decide, limitsOf } from '../../ledger/prices/session-bars.ts';
import type { SymbolDay, TradingDay } from '../../ledger/symbols/origin.ts';
import { type FoldedDay, type FoldLimits, withTick } from '../../ledger/ticks/fold-day.ts';
import { TickPruning } from '../../ledger/ticks/prune.ts';
import { type Day, FIRST_DAY, MS_PER_DAY, utcDay } from '../../market/day.ts';
import { type Market, marketOf, sessionEnd, settlementTime } from '../../market/session.ts';
import { ClosingProgress } from './progress.ts';
import { type CloseLimits, WorkBudget } from './work-budget.ts';

/** Ticks are kept this long after their session and the longest delay, for late ticks and restarted replicas. */
const KEEP_MS = 7 * MS_PER_DAY;
/** A transaction publishes this many bars, or those that were folded within this time. */
const DAYS_PER_TRANSACTION = 50;
const MS_PER_TRANSACTION = 100;
/** Days that are marked for deletion together: each takes a statement for every 1,000 ticks. */
const DAYS_PER_MARK = 25;

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
  isFinal: boolean;
  /**
   * The bar of a day includes the ticks up to this moment, in ms. Ticks made after the session are included once every plan
   * sees them: the bar shows at once.
   */
  madeBy(day: SymbolDay): number;
}

/** Days whose session ended before the horizon, in ms. */
interface OldDays {
  /** Those that are not marked, the oldest last. */
  days: SymbolDay[];
  horizon: number;
  /** The date that is being marked. */
  marking?: Day | undefined;
}

interface Traits {
  market: Market;
  real: boolean;
}

/**
 * Turns the ticks of sessions that have settled or ended into bars, and deletes old ticks. It follows the ledger by revision:
 *
 *     days with new ticks ─► waiting ─► fold, page by page ─► publish: a short transaction, with the ticks since the fold
 *                                       other work between pages
 *
 * All of it is done in bounded steps, so pushes and a stop never wait long, however many ticks there are.
 */
export class Closer {
  readonly #ledger: Ledger;
  readonly #progress: ClosingProgress;
  readonly #traits = new Map<number, Traits>();
  /** Days with ticks that are in no bar yet. */
  readonly #waiting = new Map<string, SymbolDay>();
  /** Waiting days whose provisional bar is up to date. */
  readonly #settled = new Set<string>();
  /** Waiting days with ticks that some plans may not see yet, and when to fold them again, in ms. */
  readonly #postponed = new Map<string, number>();
  readonly #pruning: TickPruning;
  /** The days that were due when pruning started and are not marked yet. */
  #old: OldDays | undefined;
  /** Whether the last `close` left something that was due. */
  isBehind = false;
  /** Whether the last `prune` left something that was due. */
  isPruningBehind = false;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
    this.#progress = new ClosingProgress(ledger);
    this.#pruning = new TickPruning(ledger.engine);
  }

  /** Publishes the bars that are due: provisional ones at settlement, final ones at the end. Returns how many. */
  async close(now: number, limits: CloseLimits = {}): Promise<number> {
    for await (const days of this.#progress.newDays()) {
      for (const day of days) {
        this.#waiting.set(keyOf(day), day);
        this.#settled.delete(keyOf(day)); // a late tick may be from before the settlement
        this.#postponed.delete(keyOf(day));
      }
    }
    await this.#readTraits();
    const visibleInAll = now - (await this.#longestDelayMs());
    const waiting = [...this.#waiting.values()].filter((day) => this.#traits.has(day.symbolId));
    waiting.sort((a, b) => a.day - b.day);
    const ended = waiting.filter((day) => this.#endOf(day) <= now && !this.#isPostponed(day, now));
    const settled = waiting.filter((day) => this.#isSettlementDue(day, now));
    const work = new WorkBudget(limits);
    const madeBy = (day: SymbolDay) => Math.max(this.#endOf(day), visibleInAll);
    let written = await this.#closeAll(ended, { now, work, isFinal: true, madeBy });
    const settlement = (day: SymbolDay) => this.#settlementOf(day)!;
    written += await this.#closeAll(settled, { now, work, isFinal: false, madeBy: settlement });
    this.isBehind =
      ended.some((day) => this.#waiting.has(keyOf(day)) && !this.#isPostponed(day, now)) ||
      settled.some((day) => !this.#settled.has(keyOf(day)));
    if (!this.isBehind) await this.#progress.save(now);
    return written;
  }

  /**
   * Deletes ticks that are in a bar, once their session's end and their arrival are longer ago than the longest
   * delay and seven days. Starts with the oldest date: marks it for all symbols, deletes its ticks, and goes on with the
   * next date. Returns the days that are completely deleted.
   */
  async prune(now: number, limits: CloseLimits = {}): Promise<TradingDay[]> {
    this.#old ??= await this.#oldDays(now);
    const { days, horizon } = this.#old;
    const work = new WorkBudget(limits);
    const pruned: TradingDay[] = [];
    while ((days.length > 0 || this.#pruning.size > 0) && !work.isUsedUp) {
      const some = this.#takeUnmarked(this.#old);
      if (some.length > 0) await this.#pruning.mark(await this.#tradingDays(some), horizon, limits.signal);
      else {
        const day = await this.#pruning.deleteSome();
        if (day) pruned.push(day);
      }
      work.hasDoneSome = true;
    }
    this.isPruningBehind = days.length > 0 || this.#pruning.size > 0;
    if (!this.isPruningBehind) this.#old = undefined;
    return pruned;
  }

  /** Some days of the date that is being marked. While marked days are left, no other date is begun. */
  #takeUnmarked(old: OldDays): SymbolDay[] {
    const { days } = old;
    if (this.#pruning.size === 0) old.marking = days.at(-1)?.day;
    const first = days.findIndex(({ day }) => day === old.marking);
    return first < 0 ? [] : days.splice(Math.max(first, days.length - DAYS_PER_MARK));
  }

  async #oldDays(now: number): Promise<OldDays> {
    const horizon = now - (await this.#longestDelayMs()) - KEEP_MS;
    await this.#readTraits();
    const old: SymbolDay[] = [];
    // No session ends more than two days from its date, in any zone.
    for await (const days of this.#ledger.ticks.tickDays.list(FIRST_DAY, utcDay(horizon) + 1)) {
      old.push(...days.filter((one) => this.#traits.has(one.symbolId) && this.#endOf(one) <= horizon));
    }
    return { days: old.sort((a, b) => b.day - a.day), horizon };
  }

  /** The longest delay of any plan. */
  async #longestDelayMs(): Promise<number> {
    const plans = await this.#ledger.plans.list();
    return Math.max(0, ...plans.map((plan) => plan.delaySeconds * 1000));
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
      work.hasDoneSome = true;
      if (prepared) group.push(prepared);
      else this.#finish(day, pass.isFinal);
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
    { symbolId, day }: SymbolDay,
    { work: { signal }, isFinal, madeBy }: ClosingPass,
  ): Promise<FoldedSession | undefined> {
    const ledger = this.#ledger;
    const tradingDay = this.#tradingDay(symbolId, day);
    const { prices } = await ledger.head();
    const current = (await ledger.bars.revisions(symbolId, tradingDay.origin, day, day)).at(-1);
    const limits = limitsOf(current, madeBy(tradingDay), isFinal);
    if (!limits) return undefined;
    const folded = await ledger.ticks.fold(tradingDay, { ...limits, ...(signal && { signal }) });
    return { day: tradingDay, isFinal, limits, current, folded, revision: prices };
  }

  /** Days whose bar changed after they were folded stay in the queue. */
  async #publish(group: readonly FoldedSession[], now: number): Promise<number> {
    if (group.length === 0) return 0;
    const byKey = new Map(group.map((one) => [keyOf(one.day), one]));
    const changed = new Set<FoldedSession>();
    const decide: Decide = async (day, current, ticksSince) => {
      const one = byKey.get(keyOf(day))!;
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
      if (changed.has(one)) continue;
      const hasMore = one.isFinal && (await this.#ledger.ticks.hasAfter(one.day, one.limits.madeBy));
      if (hasMore) this.#postponed.set(keyOf(one.day), now + RECHECK_MS);
      else this.#finish(one.day, one.isFinal);
    }
    return written;
  }

  /** Whether its last ticks were made after the session, and some plans may not see them yet. */
  #isPostponed(day: SymbolDay, now: number): boolean {
    return (this.#postponed.get(keyOf(day)) ?? now) > now;
  }

  #finish(day: SymbolDay, isFinal: boolean): void {
    const key = keyOf(day);
    this.#postponed.delete(key);
    if (!isFinal) this.#settled.add(key);
    else {
      this.#waiting.delete(key);
      this.#settled.delete(key);
    }
  }

  /** Simulated days have no settlement: their only bar comes from the random walk. */
  #isSettlementDue(day: SymbolDay, now: number): boolean {
    const isReal = this.#traits.get(day.symbolId)!.real;
    if (!isReal || this.#settled.has(keyOf(day)) || this.#endOf(day) <= now) return false;
    return (this.#settlementOf(day) ?? Number.POSITIVE_INFINITY) <= now;
  }

  #settlementOf(day: SymbolDay): number | undefined {
    return settlementTime(this.#traits.get(day.symbolId)!.market, day.day);
  }

  #endOf(day: SymbolDay): number {
    return sessionEnd(this.#traits.get(day.symbolId)!.market, day.day);
  }

  /** Bars come from real ticks, or from simulated ones for a symbol without real prices. */
  #tradingDay(symbolId: number, day: number): TradingDay {
    return { symbolId, day, origin: this.#traits.get(symbolId)!.real ? 'real' : 'simulated' };
  }

  /** A symbol may still have ticks that were simulated before its first real price. */
  async #tradingDays(days: readonly SymbolDay[]): Promise<TradingDay[]> {
    const found: TradingDay[] = [];
    for (const day of days) {
      const traits = this.#traits.get(day.symbolId);
      if (!traits) continue; // the symbol was deleted meanwhile
      if (traits.real) found.push({ ...day, origin: 'real' });
      if (!traits.real || (await this.#ledger.ticks.hasSimulated(day.symbolId)))
        found.push({ ...day, origin: 'simulated' });
    }
    return found;
  }

  /** Called each time: a symbol may have its first real price, or another market. */
  async #readTraits(): Promise<void> {
    const { symbols } = this.#ledger;
    const known = [...(await symbols.list()), ...(await symbols.currencies())];
    this.#traits.clear(); // a symbol may have been deleted
    for (const { id, market, real } of known) {
      this.#traits.set(id, { market: marketOf(market), real });
    }
  }
}

function keyOf({ symbolId, day }: SymbolDay): string {
  return `${symbolId} ${day}`;
}
