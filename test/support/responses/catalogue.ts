import type { Parsed, Provider } from '../../../src/feeds/provider.ts';
import { mapObservations } from '../../../src/feeds/run/map-observations.ts';
import formulas from '../../../src/ledger/catalog/formulas.json';
import catalogue from '../../../src/ledger/catalog/symbols.json' with { type: 'json' };
import type { LedgerSymbol } from '../../../src/ledger/symbols/symbols.ts';
import { LAST_DAY, printDay } from '../../../src/market/day.ts';

export const CATALOGUE_SIZE = catalogue.length;

/** What `/symbols` lists: symbols, and the formulas that are built in. */
export const LISTED_SIZE = CATALOGUE_SIZE + formulas.length;

/** The price revision of a new ledger: one for the symbols, and one for each formula. */
export const FIRST_REVISION = 1 + formulas.length;

const SYMBOLS = catalogue.map((symbol, id) => ({ ...symbol, id, real: true })) as LedgerSymbol[];

/** The prices in a body, by the catalogue's symbols and in their units. */
export function pricesOf(provider: Provider, { observations }: Pick<Parsed, 'observations'>) {
  const { bars } = mapObservations(provider, observations, SYMBOLS, LAST_DAY);
  return bars.map(({ symbolId, day, ...prices }) => ({
    symbol: SYMBOLS[symbolId]!.code,
    date: printDay(day),
    ...prices,
  }));
}
