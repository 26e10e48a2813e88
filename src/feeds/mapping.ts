import type { FailingSeries } from '../ledger/operations/feed-runs.ts';
import type { ProvidedSeries, Provider } from './provider.ts';

/**
 * Which series each symbol is filled from, when these providers are on, first come first served. A currency provider
 * fills no symbols.
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

/** A series that fails, and the symbol that it is the price of. */
export interface SymbolFailure extends FailingSeries {
  symbol: string;
}

/** With their symbols; those that the provider no longer has are left out. */
export function failingSymbols(provider: Provider, failing: readonly FailingSeries[]): SymbolFailure[] {
  return failing.flatMap((one) => {
    const symbol = provider.series.find(({ id }) => id === one.series)?.symbol;
    return symbol === undefined ? [] : [{ ...one, symbol }];
  });
}

/** What a provider may fill now, and what others fill in its place. */
export interface Ownership {
  /** Of its series, those whose symbol it owns. */
  series: readonly ProvidedSeries[];
  /** By the key of the provider that owns them: symbols that it has a series for, and must leave alone. */
  elsewhere: ReadonlyMap<string, readonly string[]>;
}

/**
 * What a provider owns, when the feeds of `enabled` are on. One that is off comes after all that are on: a run by hand
 * takes what nobody else brings.
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
