import type { Decide } from '../ledger/closing.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { StrandDay } from '../ledger/ticks.ts';
import { MS_PER_DAY, utcDay } from '../market/day.ts';
import { type Market, marketOf, sessionEnd, settlementTime } from '../market/session.ts';
import { closingOf } from './closing.ts';

/** Ticks stay this long after their session and the longest delay: late ones and restarted replicas need them. */
const KEEP_MS = 7 * MS_PER_DAY;

/**
 * Turns the ticks of sessions that have settled or ended into bars, and lets go of old ticks. It follows the ledger by revision:
 * a turn looks at the ticks that are new, and at the days that wait for the end of their session.
 */
export class Closer {
  readonly #ledger: Ledger;
  readonly #markets = new Map<number, Market>();
  /** Days with ticks that are in no bar yet. */
  readonly #waiting = new Map<string, StrandDay>();
  /** Of those, the ones whose provisional bar has been seen to. */
  readonly #settled = new Set<string>();
  /** Ticks up to this revision have been looked at. */
  #seen = 0;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Publishes every bar that is due: provisional ones at settlement, final ones at the end. Returns how many. */
  async close(now: number): Promise<number> {
    const { prices } = await this.#ledger.head();
    for (const day of await this.#ledger.ticks.unfolded(this.#seen, prices)) {
      this.#waiting.set(keyOf(day), day);
      this.#settled.delete(keyOf(day)); // a late tick may be one of before the settlement
    }
    this.#seen = prices;
    await this.#learnMarkets([...this.#waiting.values()]);
    const waiting = [...this.#waiting.values()];
    const over = waiting.filter((day) => this.#endOf(day) <= now);
    const settled = waiting.filter((day) => this.#isSettlementDue(day, now));
    let written = 0;
    if (over.length > 0) {
      const final: Decide = (_, current, ticks) => closingOf(current, ticks);
      written += await this.#ledger.closing.publish(over, final, now);
      for (const day of over) this.#waiting.delete(keyOf(day));
      for (const day of over) this.#settled.delete(keyOf(day));
    }
    if (settled.length > 0) {
      const provisional: Decide = (day, current, ticks) => closingOf(current, ticks, this.#settlementOf(day));
      written += await this.#ledger.closing.publish(settled, provisional, now);
      for (const day of settled) this.#settled.add(keyOf(day));
    }
    return written;
  }

  /**
   * Lets go of ticks that are in a bar, once their session's end and their arrival are longer ago than the longest
   * delay and seven days. Stops early when `signal` says so. Returns the days it let go of.
   */
  async prune(now: number, signal?: AbortSignal): Promise<StrandDay[]> {
    const plans = await this.#ledger.accounts.plans();
    const longestDelayMs = Math.max(0, ...plans.map((plan) => plan.delaySeconds * 1000));
    const horizon = now - longestDelayMs - KEEP_MS;
    // No session ends more than two days from its date, in any zone.
    const old = await this.#ledger.ticks.daysBefore(utcDay(horizon) + 2);
    await this.#learnMarkets(old);
    const pruned: StrandDay[] = [];
    for (const day of old) {
      if (signal?.aborted) break;
      if (this.#endOf(day) <= horizon && (await this.#ledger.ticks.prune(day, horizon))) pruned.push(day);
    }
    return pruned;
  }

  /** A simulated day has one bar, the walk's: nobody settles it. */
  #isSettlementDue(day: StrandDay, now: number): boolean {
    if (day.strand === 'simulated' || this.#settled.has(keyOf(day)) || this.#endOf(day) <= now) return false;
    return (this.#settlementOf(day) ?? Number.POSITIVE_INFINITY) <= now;
  }

  #settlementOf(day: StrandDay): number | undefined {
    return settlementTime(this.#markets.get(day.symbolId)!, day.day);
  }

  #endOf(day: StrandDay): number {
    return sessionEnd(this.#markets.get(day.symbolId)!, day.day);
  }

  async #learnMarkets(days: readonly StrandDay[]): Promise<void> {
    if (days.every((day) => this.#markets.has(day.symbolId))) return;
    for (const symbol of await this.#ledger.symbols.list()) {
      this.#markets.set(symbol.id, marketOf(symbol.market));
    }
  }
}

function keyOf({ symbolId, strand, day }: StrandDay): string {
  return `${symbolId} ${strand} ${day}`;
}
