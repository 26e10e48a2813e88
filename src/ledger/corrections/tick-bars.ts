import { type Market, marketOf, sessionEnd, settlementTime } from '../../market/session.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber, asText, onlyRow, type Sql } from '../engine/rows.ts';
import { type BarRevision, NO_BAR, TICK_REASONS } from '../prices/bars.ts';
import { type Closing, closingOf, limitsOf } from '../prices/closing-store.ts';
import { type SymbolDay, symbolDayKey, type TradingDay } from '../symbols/origin.ts';
import type { FoldLimits } from '../ticks/day-pages.ts';
import { allTicksSince } from '../ticks/day-ticks.ts';
import { type FoldedDay, foldDay, withTick } from '../ticks/fold-day.ts';
import { isMarked } from '../ticks/mark-days.ts';
import { TickDays } from '../ticks/tick-days.ts';
import type { DayVersion } from './day-versions.ts';
import type { BarRow } from './withdrawals.ts';

/** A day that gets back the bar that it had before somebody changed it. */
export interface RestoredDay extends SymbolDay {
  /** That bar; undefined if it had none. */
  earlier: DayVersion | undefined;
}

/** What the ticks of a day make of its earlier bar; undefined if it stays. */
export type ClosingOfDay = (day: RestoredDay) => Promise<Closing | undefined>;

/**
 * The bars that days would have by now if only their ticks had changed them: the closer leaves a day alone while an import
 * or the operator has replaced its bar.
 *
 *     fold, page by page, outside of any transaction ─► a short transaction, with the ticks since the fold
 */
export class TickBars {
  readonly #engine: Engine;
  readonly #now: number;
  readonly #markets: ReadonlyMap<number, Market>;
  /** Moments up to this one are visible to every plan. */
  readonly #visibleInAll: number;
  readonly #tickDays: TickDays;
  /** Days that have ticks up to the revision `#reached`. */
  readonly #withTicks = new Set<string>();
  #reached: number | undefined;
  #folded = new Map<string, { folded: FoldedDay; limits: FoldLimits }>();

  private constructor(engine: Engine, now: number, markets: ReadonlyMap<number, Market>, delayMs: number) {
    this.#engine = engine;
    this.#now = now;
    this.#markets = markets;
    this.#visibleInAll = now - delayMs;
    this.#tickDays = new TickDays(engine);
  }

  static async open(engine: Engine, now: number): Promise<TickBars> {
    const symbols = await engine.read`SELECT id, market FROM symbol`;
    const markets = new Map(symbols.map((row) => [asNumber(row.id), marketOf(asText(row.market))]));
    const plans = await engine.read`SELECT coalesce(max(delay_seconds), 0) AS seconds FROM plan`;
    return new TickBars(engine, now, markets, asNumber(onlyRow(plans).seconds) * 1000);
  }

  /** Folds the ticks of these days, for the next transaction. */
  async fold(days: readonly RestoredDay[]): Promise<void> {
    await this.#findDays();
    this.#folded = new Map();
    for (const day of days) {
      if (!this.#withTicks.has(symbolDayKey(day))) continue;
      for (const limits of this.#limitsOf(day)) {
        const folded = await foldDay(this.#engine, realDay(day), limits);
        if (!folded) continue;
        this.#folded.set(symbolDayKey(day), { folded, limits });
        break;
      }
    }
  }

  /** Call it in a transaction that has locked the revisions of prices. */
  async closings(tx: Sql): Promise<ClosingOfDay> {
    const since = Map.groupBy(await allTicksSince(tx, this.#reached!), symbolDayKey);
    return async (day) => {
      const known = this.#folded.get(symbolDayKey(day));
      let folded = known?.folded;
      for (const limits of known ? [known.limits] : this.#limitsOf(day)) {
        for (const tick of since.get(symbolDayKey(day)) ?? []) folded = withTick(folded, tick, limits);
        if (folded) break;
      }
      if (!folded || (await isMarked(tx, realDay(day)))) return undefined; // its ticks are being deleted
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
    return this.#madeBy(day).flatMap((ms) => limitsOf(day.earlier, ms, this.#isFinal(day)) ?? []);
  }

  #isFinal({ symbolId, day }: SymbolDay): boolean {
    return sessionEnd(this.#markets.get(symbolId)!, day) <= this.#now;
  }

  /**
   * As the closer does. Before the settlement, or without ticks up to it, the bar has the ticks so far: with no bar, the day
   * would be withdrawn, and its ticks with it.
   */
  #madeBy(of: SymbolDay): number[] {
    const market = this.#markets.get(of.symbolId)!;
    if (this.#isFinal(of)) return [Math.max(sessionEnd(market, of.day), this.#visibleInAll)];
    const settlement = settlementTime(market, of.day);
    return settlement !== undefined && settlement < this.#now ? [settlement, this.#now] : [this.#now];
  }
}

/**
 * The bar that a day gets back. A day that had none is withdrawn, with the prices of its current bar. A bar with other ticks
 * than the earlier one restores it, too: what hid ticks of the day since then does no more.
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
