import type { Ledger } from '../../ledger/ledger.ts';
import type { SymbolDay, TradingDay } from '../../ledger/symbols/origin.ts';
import { TICKS_KEPT_MS, TickPruning } from '../../ledger/ticks/tick-pruning.ts';
import { type Day, FIRST_DAY, utcDay } from '../../market/day.ts';
import { type WorkBounds, WorkBudget } from '../../runtime/work-budget.ts';
import { SessionCalendar } from './session-calendar.ts';

/** Days that are marked for deletion together: each takes a statement for every 1,000 ticks. */
const DAYS_PER_MARK = 25;

/** Days whose session ended before the horizon, in ms. */
interface OldDays {
  /** Those that are not marked, the oldest last. */
  days: SymbolDay[];
  horizon: number;
  /** The date that is being marked. */
  marking?: Day | undefined;
}

/**
 * Deletes ticks that are in a bar, once their session's end and their arrival are longer ago than the longest delay and seven
 * days. Starts with the oldest date: marks it for all symbols, deletes its ticks, and continues with the next date.
 */
export class Pruner {
  readonly #ledger: Ledger;
  readonly #pruning: TickPruning;
  /** The days that were due when pruning started and are not marked yet. */
  #old: OldDays | undefined;
  /** Whether the last `prune` left something that was due. */
  isBehind = false;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
    this.#pruning = new TickPruning(ledger.engine);
  }

  /** Returns the days that are completely deleted. */
  async prune(now: number, bounds: WorkBounds = {}): Promise<TradingDay[]> {
    const calendar = await SessionCalendar.read(this.#ledger);
    this.#old ??= await this.#oldDays(calendar, now);
    const { days, horizon } = this.#old;
    const work = new WorkBudget(bounds);
    const pruned: TradingDay[] = [];
    while ((days.length > 0 || this.#pruning.size > 0) && !work.isUsedUp) {
      const some = this.#takeUnmarked(this.#old);
      if (some.length > 0) {
        await this.#pruning.mark(await this.#tradingDays(calendar, some), horizon, bounds.signal);
      } else {
        const day = await this.#pruning.deleteSome();
        if (day) pruned.push(day);
      }
      work.stepDone();
    }
    this.isBehind = days.length > 0 || this.#pruning.size > 0;
    if (!this.isBehind) this.#old = undefined;
    return pruned;
  }

  async #oldDays(calendar: SessionCalendar, now: number): Promise<OldDays> {
    const horizon = now - calendar.longestDelayMs - TICKS_KEPT_MS;
    const old: SymbolDay[] = [];
    // A session ends at most one day before its date, by UTC: where clocks are ahead of UTC.
    for await (const days of this.#ledger.ticks.tickDays.list(FIRST_DAY, utcDay(horizon) + 1)) {
      old.push(...days.filter((day) => calendar.has(day) && calendar.endOf(day) <= horizon));
    }
    return { days: old.sort((a, b) => b.day - a.day), horizon };
  }

  /** Some days of the date that is being marked. While marked days are left, no other date is begun. */
  #takeUnmarked(old: OldDays): SymbolDay[] {
    const { days } = old;
    if (this.#pruning.size === 0) old.marking = days.at(-1)?.day;
    const first = days.findIndex(({ day }) => day === old.marking);
    return first < 0 ? [] : days.splice(Math.max(first, days.length - DAYS_PER_MARK));
  }

  /** A symbol may still have ticks that were simulated before its first real price. */
  async #tradingDays(calendar: SessionCalendar, days: readonly SymbolDay[]): Promise<TradingDay[]> {
    const found: TradingDay[] = [];
    for (const day of days) {
      if (!calendar.has(day)) continue; // the symbol was deleted meanwhile
      const tradingDay = calendar.tradingDayOf(day);
      found.push(tradingDay);
      if (tradingDay.origin === 'real' && (await this.#ledger.ticks.hasSimulated(day.symbolId))) {
        found.push({ ...day, origin: 'simulated' });
      }
    }
    return found;
  }
}
