import type { Ledger } from '../ledger/ledger.ts';
import type { LedgerSymbol } from '../ledger/symbols.ts';
import type { Observation, Provider } from './provider.ts';

/** What a provider's series may fill, by the name that its series have for it. */
export type Targets = ReadonlyMap<string, LedgerSymbol>;

/** The symbols, or for a provider of currencies the exchange rates that there are. */
export async function targetsOf(provider: Provider, ledger: Ledger): Promise<Targets> {
  if (provider.fills === 'currencies') return byCurrency(await ledger.symbols.currencies());
  return new Map((await ledger.symbols.list()).map((symbol) => [symbol.code, symbol]));
}

/** The same, with a series for every currency that is observed: a currency is known once it has a rate. */
export async function targetsFor(
  provider: Provider,
  observations: readonly Observation[],
  ledger: Ledger,
): Promise<Targets> {
  if (provider.fills !== 'currencies') return targetsOf(provider, ledger);
  const observed = new Set(observations.map((one) => one.series));
  const codes = provider.series.filter(({ id }) => observed.has(id)).map(({ symbol }) => symbol);
  return ledger.symbols.addCurrencies(codes);
}

function byCurrency(symbols: readonly LedgerSymbol[]): Targets {
  return new Map(symbols.map((symbol) => [symbol.currency.code, symbol]));
}
