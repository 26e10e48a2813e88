import { type Market, marketOf, sessionEnd, settlementTime } from '../../market/session.ts';
import type { Engine } from '../engine/engine.ts';
import { nextRevision } from '../engine/revisions.ts';
import { asNumber, asText, onlyRow, type Sql } from '../engine/rows.ts';
import { storedDay, storedDays } from '../intraday/hour-bars.ts';
import { type BarRevision, NO_BAR, readRevisions, TICK_REASONS } from '../prices/bars.ts';
import { type Closing, closingOf, closingWith, limitsOf } from '../prices/closing-store.ts';
import { type SymbolDay, symbolDayKey, type TradingDay } from '../symbols/origin.ts';
import type { FoldLimits } from '../ticks/day-pages.ts';
import { allTicksSince } from '../ticks/day-ticks.ts';
import { DayFolder, type FoldedDay, withTick } from '../ticks/fold-day.ts';
import { isMarked } from '../ticks/mark-days.ts';
import { TickDays } from '../ticks/tick-days.ts';
import { TICKS_KEPT_MS } from '../ticks/tick-pruning.ts';
import type { DayVersion } from './day-versions.ts';
import type { BarRow } from './withdrawals.ts';

/** A day that gets back the bar that it had before somebody changed it. */
export interface RestoredDay extends SymbolDay {
  /** That bar; undefined if it had none. */
  earlier: DayVersion | undefined;
}

/** Computes the bar of a day from its earlier bar and its ticks; undefined if the ticks do not change that bar. */
export type ClosingOfDay = (day: RestoredDay) => Promise<Closing | undefined>;

interface CountedTicks {
  folded: FoldedDay;
  limits: FoldLimits;
}

/** The earlier bar of a day is not the one that its ticks were folded for. */
class StaleFold extends Error {}

/**
 * The bars that days would have by now if only their ticks had changed them: the closer leaves a day alone while an import
 * or the operator has replaced its bar.
 *
 *     fold, page by page, outside of any transaction ─► a short transaction, with the ticks since the fold
 *          ▲                                                 │
 *          └──── another change was taken back meanwhile ────┘
 */
export class TickBars {
  readonly #engine: Engine;
  readonly #now: number;
  readonly #markets: ReadonlyMap<number, Market>;
  /** Moments up to this one are visible to every plan. */
  readonly #visibleInAll: number;
  readonly #tickDays: TickDays;
  readonly #folder: DayFolder;
  /** Days that have ticks up to the revision `#reached`. */
  readonly #withTicks = new Set<string>();
  #reached: number | undefined;
  /** By day: the revision of its earlier bar, and its ticks, if any count. */
  #folds = new Map<string, { earlier: number | undefined; ticks?: CountedTicks; stored?: Closing }>();

  private constructor(engine: Engine, now: number, markets: ReadonlyMap<number, Market>, delayMs: number) {
    this.#engine = engine;
    this.#now = now;
    this.#markets = markets;
    this.#visibleInAll = now - delayMs;
    this.#tickDays = new TickDays(engine);
    this.#folder = new DayFolder(engine);
  }

  static async open(engine: Engine, now: number): Promise<TickBars> {
    const symbols = await engine.read`SELECT id, market FROM symbol`;
    const markets = new Map(symbols.map((row) => [asNumber(row.id), marketOf(asText(row.market))]));
    const plans = await engine.read`SELECT coalesce(max(delay_seconds), 0) AS seconds FROM plan`;
    return new TickBars(engine, now, markets, asNumber(onlyRow(plans).seconds) * 1000);
  }

  /**
   * Folds the ticks of days, and calls `work` in a transaction, with its revision. `work` may ask for the closings of these
   * days. If one of them has another earlier bar by then, other ticks count, and everything is done again.
   */
  async write<T>(
    daysOf: () => Promise<readonly RestoredDay[]>,
    work: (tx: Sql, revision: number, closingOf: ClosingOfDay) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      await this.#fold(await daysOf());
      try {
        return await this.#engine.writePrices(async (tx) => {
          const revision = await nextRevision(tx, 'prices');
          return work(tx, revision, await this.#closings(tx));
        });
      } catch (error) {
        if (!(error instanceof StaleFold)) throw error;
      }
    }
  }

  async #fold(days: readonly RestoredDay[]): Promise<void> {
    await this.#findDays();
    this.#folds = new Map();
    const withStored = await this.#withStoredHours(days);
    for (const day of days) {
      const key = symbolDayKey(day);
      const earlier = day.earlier?.revision;
      const stored = withStored.has(key) && (await this.#storedClosing(this.#engine.read, day));
      if (stored) this.#folds.set(key, { earlier, stored });
      else {
        const ticks = this.#withTicks.has(key) ? await this.#countedTicks(day) : undefined;
        this.#folds.set(key, { earlier, ...(ticks && { ticks }) });
      }
    }
  }

  async #withStoredHours(days: readonly RestoredDay[]): Promise<Set<string>> {
    const found = new Set<string>();
    for (const [symbolId, own] of Map.groupBy(days, (of) => of.symbolId)) {
      const all = own.map(({ day }) => day);
      const range = { first: Math.min(...all), last: Math.max(...all) };
      for (const day of await storedDays(this.#engine, symbolId, range)) {
        found.add(symbolDayKey({ symbolId, day }));
      }
    }
    return found;
  }

  /**
   * The bar of a day whose ticks are deleted, from its stored hours. These lack the ticks that were hidden when they were
   * stored, so there is none if other ticks count now.
   */
  async #storedClosing(handle: Sql, day: RestoredDay): Promise<Closing | undefined> {
    const limits = this.#limitsOf(day)[0];
    if (!limits) return undefined;
    const stored = await storedDay(this.#engine, handle, realDay(day));
    if (!stored) return undefined;
    const keptUntil = sessionEnd(this.#markets.get(day.symbolId)!, day.day) + TICKS_KEPT_MS;
    const revisions = await readRevisions(handle, day.symbolId, 'real', day.day, day.day);
    const since = revisions.findIndex(({ recordedAt }) => recordedAt > keptUntil);
    const then = since < 0 ? revisions.at(-1) : revisions[since - 1];
    if (then?.ticksWithdrawnUntil !== limits.receivedAfter) return undefined;
    return closingWith(day.earlier, stored, true);
  }

  async #countedTicks(day: RestoredDay): Promise<CountedTicks | undefined> {
    for (const limits of this.#limitsOf(day)) {
      const folded = await this.#folder.fold(realDay(day), limits);
      if (folded) return { folded, limits };
    }
    return undefined;
  }

  /** The transaction has locked the revisions of prices. */
  async #closings(tx: Sql): Promise<ClosingOfDay> {
    const since = Map.groupBy(await allTicksSince(tx, this.#reached!), symbolDayKey);
    return async (day) => {
      const fold = this.#folds.get(symbolDayKey(day));
      if (!fold || fold.earlier !== day.earlier?.revision) throw new StaleFold();
      if (fold.stored) return fold.stored;
      const known = fold.ticks;
      let folded = known?.folded;
      for (const limits of known ? [known.limits] : this.#limitsOf(day)) {
        for (const tick of since.get(symbolDayKey(day)) ?? []) folded = withTick(folded, tick, limits);
        if (folded) break;
      }
      if (!folded) return undefined;
      if (await isMarked(tx, realDay(day))) return this.#storedClosing(tx, day); // its ticks are being deleted
      return closingOf(day.earlier, folded, this.#isFinal(day));
    };
  }

  async #findDays(): Promise<void> {
    const { value } = onlyRow(await this.#engine.read`SELECT value FROM counter WHERE name = 'prices'`);
    const head = asNumber(value);
    const changed =
      this.#reached === undefined ? undefined : await this.#tickDays.changed(this.#reached, head);
    for await (const days of changed ? [changed] : this.#tickDays.list()) {
      for (const day of days) this.#withTicks.add(symbolDayKey(day));
    }
    this.#reached = head;
  }

  /** Which ticks make up the bar of a day: the first of these limits that any tick is within. None if the earlier bar stays. */
  #limitsOf(day: RestoredDay): FoldLimits[] {
    return this.#foldEnds(day).flatMap((ms) => limitsOf(day.earlier, ms, this.#isFinal(day)) ?? []);
  }

  #isFinal({ symbolId, day }: SymbolDay): boolean {
    return sessionEnd(this.#markets.get(symbolId)!, day) <= this.#now;
  }

  /**
   * Up to which moments to fold the ticks, in order of preference, as the closer does. Before the settlement, or without ticks
   * up to it, the bar has the ticks so far: without a bar, the day would be withdrawn together with its ticks.
   */
  #foldEnds(of: SymbolDay): number[] {
    const market = this.#markets.get(of.symbolId)!;
    if (this.#isFinal(of)) return [Math.max(sessionEnd(market, of.day), this.#visibleInAll)];
    const settlement = settlementTime(market, of.day);
    return settlement !== undefined && settlement < this.#now ? [settlement, this.#now] : [this.#now];
  }
}

/**
 * The bar that a day gets back. A day that had none is withdrawn, with the prices of its current bar. A bar with other ticks
 * than the earlier one also counts as restoring it: withdrawals since then no longer hide ticks of the day.
 */
export function restoredBar(
  { symbolId, day, earlier }: RestoredDay,
  closing: Closing | undefined,
  current: BarRevision,
): Omit<BarRow, 'recordedAt'> {
  const restores = earlier?.origin ?? NO_BAR;
  if (closing) return { symbolId, day, ...closing, withdrawn: false, restores };
  if (earlier) return { ...earlier, symbolId, restores };
  return { ...current, symbolId, withdrawn: 'source', restores };
}

/** Whether a bar was made of ticks, so that the closer may replace it. */
export function isTickBar({ withdrawn, reason }: Pick<BarRevision, 'withdrawn' | 'reason'>): boolean {
  return !withdrawn && TICK_REASONS.has(reason);
}

function realDay({ symbolId, day }: SymbolDay): TradingDay {
  return { symbolId, day, origin: 'real' };
}
