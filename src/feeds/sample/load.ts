import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import { ownershipOf } from '../mapping.ts';
import type { ProvidedSeries, Provider } from '../provider.ts';
import { type RunnerParts, symbolsOf } from '../run/context.ts';
import type { RunResult } from '../run/run-record.ts';
import { runFeed } from '../run/runner.ts';
import { bundledObservations, bundledProvider, EDITIONS, type Edition } from './bundle.ts';

/** The outcome for one provider's part of the bundle. */
export interface LoadedEdition extends Edition {
  title: string;
  licence: Provider['licence'];
  outcome: /** `kept` are the bundled symbols that were not loaded, because they have real prices from elsewhere. */
    | { kind: 'loaded'; run: RunResult; kept: readonly string[] }
    /** Nothing was written, and why. */
    | { kind: 'skipped'; reason: string };
}

export type SampleProgress = (provider: string, done: number, total: number) => void;

/**
 * Publishes the bundled history through the adapters and the runner, as if the providers had sent it. A feed that has fetched
 * from its provider has newer data, and symbols with real prices from elsewhere keep them.
 */
export async function loadSample(
  parts: RunnerParts,
  onProgress: SampleProgress = () => {},
): Promise<LoadedEdition[]> {
  const loaded: LoadedEdition[] = [];
  for (const edition of EDITIONS) {
    const provider = parts.providers.find(({ key }) => key === edition.provider);
    if (!provider) continue;
    const { title, licence } = provider;
    loaded.push({ ...edition, title, licence, outcome: await load(provider, edition, parts, onProgress) });
  }
  return loaded;
}

async function load(
  provider: Provider,
  edition: Edition,
  parts: RunnerParts,
  onProgress: SampleProgress,
): Promise<LoadedEdition['outcome']> {
  const { key } = provider;
  if ((await parts.ledger.feeds.bodies(key)).size > 0) {
    return { kind: 'skipped', reason: `the feed ${key} has fetched newer data` };
  }
  const series = await fillable(provider, parts);
  if (series.length === 0) return { kind: 'skipped', reason: 'its symbols have real prices already' };
  const kept = await keptSymbols(provider, edition, series);
  const bundled = bundledProvider({ ...provider, series }, edition);
  const run = await runFeed(bundled.provider, parts, {
    archive: bundled.archive,
    onProgress: (what, done, total) => {
      if (what === 'published') onProgress(key, done, total);
    },
  });
  return run
    ? { kind: 'loaded', run, kept }
    : { kind: 'skipped', reason: `another process is running the feed ${key}` };
}

/**
 * The series whose symbols have no real prices, or have them from this provider and belong to it. A feed that is enabled but
 * has not succeeded yet, as without a network, does not keep the bundle from filling its symbols.
 */
async function fillable(provider: Provider, parts: RunnerParts): Promise<ProvidedSeries[]> {
  const { feeds } = parts.ledger;
  const symbols = new Map<string, LedgerSymbol>();
  for (const symbol of await symbolsOf({ provider, parts })) symbols.set(symbol.code, symbol);
  const owned = new Set(ownershipOf(provider, parts.providers, await feeds.enabled()).series);
  const free: ProvidedSeries[] = [];
  for (const series of provider.series) {
    const symbol = symbols.get(series.symbol);
    if (!symbol) continue;
    if (!symbol.real || (owned.has(series) && (await feeds.daysOf(provider.key, symbol.id)).length > 0)) {
      free.push(series);
    }
  }
  return free;
}

/** The symbols of the bundled series that are not in `filled`. The bundle has only some of a provider's series. */
async function keptSymbols(
  provider: Provider,
  edition: Edition,
  filled: readonly ProvidedSeries[],
): Promise<string[]> {
  const others = provider.series.filter((series) => !filled.includes(series));
  if (others.length === 0) return [];
  const bundled = new Set((await bundledObservations(provider, edition)).map(({ series }) => series));
  return others.filter(({ id }) => bundled.has(id)).map(({ symbol }) => symbol);
}
