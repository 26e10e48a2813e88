import type { Ledger } from '../ledger/ledger.ts';
import type { StrandDay } from '../ledger/ticks.ts';
import { MS_PER_DAY, utcDay } from '../market/day.ts';
import { type Market, marketOf, sessionEnd } from '../market/session.ts';
import { closingOf } from './closing.ts';

/** Ticks stay this long after their session and the longest delay: late ones and restarted replicas need them. */
const KEEP_MS = 7 * MS_PER_DAY;

/**
 * Turns the ticks of sessions that have ended into bars, and lets go of old ticks. It follows the ledger by revision:
 * a turn looks at the ticks that are new, and at the days that wait for the end of their session.
 */
export class Closer {
  readonly #ledger: Ledger;
  readonly #markets = new Map<number, Market>();
  /** Days with ticks that are in no bar yet. */
  readonly #waiting = new Map<string, StrandDay>();
  /** Ticks up to this revision have been looked at. */
  #seen = 0;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Publishes every bar that is due. Returns how many were written. */
  async close(now: number): Promise<number> {
    const { prices } = await this.#ledger.head();
    for (const day of await this.#ledger.ticks.unfolded(this.#seen, prices)) {
      this.#waiting.set(`${day.symbolId} ${day.strand} ${day.day}`, day);
    }
    this.#seen = prices;
    await this.#learnMarkets([...this.#waiting.values()]);
    const due = [...this.#waiting].filter(([, day]) => this.#endOf(day) <= now);
    if (due.length === 0) return 0;
    const days = due.map(([, day]) => day);
    const written = await this.#ledger.closing.publish(days, closingOf, now);
    for (const [key] of due) this.#waiting.delete(key);
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
