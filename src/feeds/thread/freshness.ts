import type { Ledger } from '../../ledger/ledger.ts';
import type { FeedHealth } from '../../ledger/operations/feeds.ts';
import { assignSymbols, failingSymbols, type SymbolFailure } from '../mapping.ts';
import type { Provider } from '../provider.ts';

/** How old what is known of the feeds may be. */
const KEEP_MS = 2_000;

type Feed = Provider & Omit<FeedHealth, 'failing'> & { symbols: number; failing: readonly SymbolFailure[] };

/** How the feeds stand, in memory: every answer asks whether its symbols' feeds are late. */
export class Freshness {
  readonly #ledger: Ledger;
  readonly #providers: readonly Provider[];
  #feeds: readonly Feed[] = [];
  #lateFrom = new Map<string, number>();
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(ledger: Ledger, providers: readonly Provider[]) {
    this.#ledger = ledger;
    this.#providers = providers;
  }

  /** Reads anew, when what is known is old. */
  async follow(now: number): Promise<void> {
    if (Math.abs(now - this.#readAt) < KEEP_MS) return;
    const health = new Map((await this.#ledger.feeds.health(now)).map((feed) => [feed.key, feed]));
    const on = this.#providers.filter(({ key }) => health.get(key)?.enabled);
    const owners = assignSymbols(on);
    const feeds: Feed[] = [];
    for (const provider of this.#providers) {
      const stands = health.get(provider.key);
      if (!stands || !(stands.enabled || stands.days > 0)) continue;
      const owned = [...owners.values()].filter((owner) => owner.provider === provider).length;
      const symbols = provider.fills === 'currencies' ? provider.series.length : owned;
      feeds.push({ ...provider, ...stands, symbols, failing: failingSymbols(provider, stands.failing) });
    }
    const late = new Map<string, number>();
    for (const [code, { provider, series }] of owners) {
      const stands = health.get(provider.key);
      const own = stands?.failing.find(({ series: id }) => id === series.id);
      const lateAt = Math.min(stands?.lateAt ?? Infinity, own?.lateAt ?? Infinity);
      if (lateAt !== Infinity) late.set(code, lateAt);
    }
    this.#feeds = feeds;
    this.#lateFrom = late;
    this.#readAt = now;
  }

  /** The feeds that are on, and those that have brought something. */
  list(): readonly Feed[] {
    return this.#feeds;
  }

  /** From when on the prices of a symbol are late: with their feed, or with their own series. */
  lateFrom(code: string): number | undefined {
    return this.#lateFrom.get(code);
  }
}
