import type { FailingSeries, FailingSymbol } from '../ledger/operations/feed-runs.ts';
import type { ProvidedSeries, Provider } from './provider.ts';

/**
 * The series that fills each symbol if these providers are enabled. The first provider with a series for a symbol wins. Currency
 * providers fill no symbols.
 */
export function assignSymbols(
  providers: readonly Provider[],
): Map<string, { provider: Provider; series: ProvidedSeries }> {
  const assigned = new Map<string, { provider: Provider; series: ProvidedSeries }>();
  for (const provider of providers) {
    if (provider.fills === 'currencies') continue;
    for (const series of provider.series) {
      if (!assigned.has(series.symbol)) assigned.set(series.symbol, { provider, series });
    }
  }
  return assigned;
}

/** Adds the symbols. Drops series that the provider no longer has. */
export function failingSymbols(provider: Provider, failing: readonly FailingSeries[]): FailingSymbol[] {
  return failing.flatMap((one) => {
    const symbol = provider.series.find(({ id }) => id === one.series)?.symbol;
    return symbol === undefined ? [] : [{ ...one, symbol }];
  });
}

/** What a provider may fill now, and what others fill instead. */
export interface Ownership {
  /** Those of its series whose symbol it owns. */
  series: readonly ProvidedSeries[];
  /** Symbols of its series that other providers own, by the owner's key. */
  elsewhere: ReadonlyMap<string, readonly string[]>;
}

/**
 * What a provider owns if the feeds in `enabled` are on. A disabled provider has the lowest priority: a manual run fills
 * what no enabled provider fills.
 */
export function ownershipOf(
  provider: Provider,
  providers: readonly Provider[],
  enabled: ReadonlySet<string>,
): Ownership {
  const on = providers.filter(({ key }) => enabled.has(key));
  const owners = assignSymbols(on.some(({ key }) => key === provider.key) ? on : [...on, provider]);
  const elsewhere = new Map<string, string[]>();
  const series: ProvidedSeries[] = [];
  for (const one of provider.series) {
    const owner = owners.get(one.symbol)?.provider ?? provider; // a currency has no owner
    if (owner.key === provider.key) series.push(one);
    else elsewhere.getOrInsertComputed(owner.key, () => []).push(one.symbol);
  }
  return { series, elsewhere };
}
