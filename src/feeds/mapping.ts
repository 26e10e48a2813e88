import type { Bar } from '../market/bar.ts';
import type { Parsed, ProvidedSeries, Provider } from './provider.ts';

/** A provider's price as the price of a symbol. */
export interface SymbolPrice extends Bar {
  symbol: string;
}

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

/** What a body says, as prices of symbols in the symbols' own units. What no symbol is mapped to is left out. */
export function pricesOf(provider: Provider, { observations }: Pick<Parsed, 'observations'>): SymbolPrice[] {
  const byId = new Map(provider.series.map((series) => [series.id, series]));
  const prices: SymbolPrice[] = [];
  for (const { series, day, open, high, low, close } of observations) {
    const mapped = byId.get(series);
    if (!mapped) continue;
    const { symbol, factor = 1 } = mapped;
    const own = (price: number): number => convert(price, factor);
    prices.push({ symbol, day, open: own(open), high: own(high), low: own(low), close: own(close) });
  }
  return prices;
}

/** Rounded once, to the 15 significant digits that a price may have: 7.25 × 0.01 is 0.0725 and not 0.07250000000000001. */
function convert(price: number, factor: number): number {
  return factor === 1 ? price : Number((price * factor).toPrecision(15));
}
