import { writeMeta } from '../../ledger/engine/meta.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { FailingSymbol, FeedRun } from '../../ledger/operations/feed-runs.ts';
import type { FeedHealth } from '../../ledger/operations/feeds.ts';
import { addressProblem } from '../addresses.ts';
import { assignSymbols, failingSymbols } from '../mapping.ts';
import { lackingSettings, type Provider, type Secrets, withUrls } from '../provider.ts';
import { lateAfter } from '../schedule.ts';
import { SAMPLE_META, SAMPLE_REQUESTED } from './requested-sample.ts';

/** How many recent runs of a feed are listed. */
const RUNS_LISTED = 10;

/** What the operator sees of a feed, enabled or not. */
export interface FeedDetails
  extends Omit<FeedHealth, 'failing'>,
    Pick<Provider, 'title' | 'licence' | 'schedule' | 'zone'> {
  /** The symbols that it fills now; none while it is disabled. */
  symbols: readonly string[];
  failing: readonly FailingSymbol[];
  /** How many series it has. */
  series: number;
  /** Required settings that are missing. */
  lacking: readonly string[];
  /** The process that runs it now. */
  holder: string | undefined;
  /** Newest first. */
  runs: readonly FeedRun[];
}

/** An address of a provider, and its built-in default. */
export interface ProviderAddress {
  name: string;
  url: string;
  own: string;
}

const NEVER_RUN: Omit<FeedHealth, 'key'> = {
  enabled: false,
  late: false,
  lateAt: undefined,
  lastRun: undefined,
  lastOkAt: undefined,
  nextRunAt: undefined,
  failures: 0,
  failing: [],
  days: 0,
  gaps: 0,
  firstDay: undefined,
  lastDay: undefined,
};

/**
 * Lists all feeds for the operator, and enables or disables them. Reads the ledger on each call. A change takes the ledger of
 * its actor (`Ledger.as`), so that the audit log records who made it.
 */
export class FeedAdmin {
  readonly #ledger: Ledger;
  readonly #providers: readonly Provider[];
  readonly #secrets: Secrets;

  constructor(ledger: Ledger, providers: readonly Provider[], secrets: Secrets) {
    this.#ledger = ledger;
    this.#providers = providers;
    this.#secrets = secrets;
  }

  async list(now: number): Promise<FeedDetails[]> {
    const { feeds } = this.#ledger;
    const known = new Map((await feeds.health(now)).map((health) => [health.key, health]));
    const holders = await feeds.holders();
    const owners = assignSymbols(this.#providers.filter(({ key }) => known.get(key)?.enabled));
    return Promise.all(
      this.#providers.map(async (provider) => {
        const { key, title, licence, schedule, zone, series } = provider;
        const health = known.get(key) ?? { key, ...NEVER_RUN };
        return {
          ...health,
          failing: failingSymbols(provider, health.failing),
          title,
          licence,
          schedule,
          zone,
          symbols: health.enabled ? symbolsOf(provider, owners) : [],
          series: series.length,
          lacking: lackingSettings(provider, this.#secrets),
          holder: holders.get(key),
          runs: await feeds.history(RUNS_LISTED, key),
        };
      }),
    );
  }

  /** Returns false if there is no such feed. */
  async setEnabled({ feeds }: Ledger, key: string, enabled: boolean, now: number): Promise<boolean> {
    const provider = this.#find(key);
    if (!provider) return false;
    if (enabled) await feeds.enable(key, now, lateAfter(provider, now));
    else await feeds.disable(key);
    return true;
  }

  /**
   * The next turn of a feed thread, here or in another process, runs the feed; if it is running, the first
   * turn after that. Returns false if there is no such feed.
   */
  async requestRun({ feeds }: Ledger, key: string, accept: boolean): Promise<boolean> {
    if (!this.#find(key)) return false;
    await feeds.requestRun(key, accept);
    return true;
  }

  /** Undefined if there is no such feed. */
  async addresses(key: string): Promise<ProviderAddress[] | undefined> {
    const provider = this.#find(key);
    return provider && addressesOf(provider, await this.#ledger.feeds.urls(key));
  }

  /** Replaces all addresses; omitted ones revert to the provider's defaults. */
  async setAddresses(
    { feeds }: Ledger,
    key: string,
    urls: Readonly<Record<string, string>>,
  ): Promise<ProviderAddress[] | { problem: string } | undefined> {
    const provider = this.#find(key);
    if (!provider) return undefined;
    const replaced = Object.entries(urls).filter(([name, url]) => provider.urls[name] !== url);
    for (const [name, url] of replaced) {
      const problem = addressProblem(provider.urls, name, url);
      if (problem !== undefined) return { problem };
    }
    const stored = Object.fromEntries(replaced);
    await feeds.setUrls(key, stored);
    return addressesOf(provider, stored);
  }

  /** The next turn of a feed thread, here or in another process, loads the bundle. */
  requestSample({ engine, audit }: Ledger): Promise<void> {
    return engine.write(async (tx) => {
      await writeMeta(tx, SAMPLE_META, SAMPLE_REQUESTED);
      await audit.record(tx, { action: 'sample.load', target: 'sample' });
    });
  }

  #find(key: string): Provider | undefined {
    return this.#providers.find((one) => one.key === key);
  }
}

function addressesOf(provider: Provider, replaced: Readonly<Record<string, string>>): ProviderAddress[] {
  const { urls } = withUrls(provider, replaced);
  return Object.entries(provider.urls).map(([name, own]) => ({ name, url: urls[name] ?? own, own }));
}

function symbolsOf(provider: Provider, owners: ReturnType<typeof assignSymbols>): string[] {
  if (provider.fills === 'currencies') return provider.series.map(({ symbol }) => symbol);
  return [...owners].filter(([, owner]) => owner.provider === provider).map(([code]) => code);
}
