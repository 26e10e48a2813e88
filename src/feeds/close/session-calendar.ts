import type { Ledger } from '../../ledger/ledger.ts';
import type { SymbolDay, TradingDay } from '../../ledger/symbols/origin.ts';
import { type Market, marketOf, sessionEnd, settlementTime } from '../../market/session.ts';

interface Traits {
  market: Market;
  isReal: boolean;
}

/**
 * When the sessions of each symbol settle and end, and when every plan sees their prices. It is a snapshot: read it again for
 * each use, because a symbol may get its first real price or another market, or be deleted.
 */
export class SessionCalendar {
  readonly #traits: ReadonlyMap<number, Traits>;
  /** The longest delay of any plan. */
  readonly longestDelayMs: number;

  private constructor(traits: ReadonlyMap<number, Traits>, longestDelayMs: number) {
    this.#traits = traits;
    this.longestDelayMs = longestDelayMs;
  }

  static async read({ symbols, plans }: Ledger): Promise<SessionCalendar> {
    const traits = new Map<number, Traits>();
    for (const { id, market, real } of [...(await symbols.list()), ...(await symbols.currencies())]) {
      traits.set(id, { market: marketOf(market), isReal: real });
    }
    const delaysMs = (await plans.list()).map((plan) => plan.delaySeconds * 1000);
    return new SessionCalendar(traits, Math.max(0, ...delaysMs));
  }

  /** Whether the symbol exists. The other methods require it. */
  has({ symbolId }: SymbolDay): boolean {
    return this.#traits.has(symbolId);
  }

  isReal({ symbolId }: SymbolDay): boolean {
    return this.#traits.get(symbolId)!.isReal;
  }

  /** When the session of a day ends, in ms. */
  endOf({ symbolId, day }: SymbolDay): number {
    return sessionEnd(this.#traits.get(symbolId)!.market, day);
  }

  /** When the session of a day settles, in ms. Undefined where the market has no settlement before its close. */
  settlementOf({ symbolId, day }: SymbolDay): number | undefined {
    return settlementTime(this.#traits.get(symbolId)!.market, day);
  }

  /** Bars come from real ticks, or from simulated ones for a symbol without real prices. */
  tradingDayOf(day: SymbolDay): TradingDay {
    return { ...day, origin: this.isReal(day) ? 'real' : 'simulated' };
  }
}
