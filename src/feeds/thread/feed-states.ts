import type { Ledger } from '../../ledger/ledger.ts';
import type { FailingSymbol } from '../../ledger/operations/feed-runs.ts';
import type { FeedHealth } from '../../ledger/operations/feeds.ts';
import { assignSymbols, failingSymbols } from '../mapping.ts';
import type { Provider } from '../provider.ts';

/** How often the state of the feeds is read. */
const MAX_AGE_MS = 2_000;

type Feed = Provider & Omit<FeedHealth, 'failing'> & { symbols: number; failing: readonly FailingSymbol[] };

/** The state of the feeds in memory: every response checks whether the feeds of its symbols are late. */
export class FeedStates {
  readonly #ledger: Ledger;
  readonly #providers: readonly Provider[];
  #feeds: readonly Feed[] = [];
  #lateFrom = new Map<string, number>();
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(ledger: Ledger, providers: readonly Provider[]) {
    this.#ledger = ledger;
    this.#providers = providers;
  }

  /** Reads the state again if it is too old. Returns whether it did. */
  async follow(now: number): Promise<boolean> {
    if (Math.abs(now - this.#readAt) < MAX_AGE_MS) return false;
    const health = new Map((await this.#ledger.feeds.health(now)).map((feed) => [feed.key, feed]));
    const on = this.#providers.filter(({ key }) => health.get(key)?.enabled);
    const owners = assignSymbols(on);
    const feeds: Feed[] = [];
    for (const provider of this.#providers) {
      const state = health.get(provider.key);
      if (!state || !(state.enabled || state.days > 0)) continue;
      const owned = [...owners.values()].filter((owner) => owner.provider === provider).length;
      const symbols = provider.fills === 'currencies' ? provider.series.length : owned;
      feeds.push({ ...provider, ...state, symbols, failing: failingSymbols(provider, state.failing) });
    }
    const late = new Map<string, number>();
    for (const [code, { provider, series }] of owners) {
      const state = health.get(provider.key);
      const own = state?.failing.find(({ series: id }) => id === series.id);
      const lateAt = Math.min(state?.lateAt ?? Infinity, own?.lateAt ?? Infinity);
      if (lateAt !== Infinity) late.set(code, lateAt);
    }
    this.#feeds = feeds;
    this.#lateFrom = late;
    this.#readAt = now;
    return true;
  }

  /** The feeds that are enabled or have delivered prices. */
  list(): readonly Feed[] {
    return this.#feeds;
  }

  /** When the prices of a symbol become late: with their feed or with their own series. */
  lateFrom(code: string): number | undefined {
    return this.#lateFrom.get(code);
  }
}
