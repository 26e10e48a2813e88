import { z } from 'zod';
import type { ListedSymbol, SymbolsAnswer } from '../../client/answers.ts';
import { SymbolSearch } from '../../market/search/symbol-search.ts';
import type { UpdateInterval } from '../../market/symbol.ts';
import { measure } from '../text.ts';
import { tool } from '../tool.ts';

export const findSymbols = tool({
  name: 'find_symbols',
  title: 'Find symbols',
  description:
    'Finds the codes of commodities by name, code, category or misspelling: "gold", "brent", "live cattle", "metals". Start here if a code is not known. States currency, unit, and first and last date of each.',
  input: z.object({ query: z.string().min(1).max(100).describe('What to look for, such as "crude oil"') }),
  async answer({ query }, ask) {
    const { symbols } = await ask<SymbolsAnswer>('/symbols');
    const found = search(query, symbols);
    if (found.length === 0) {
      const categories = [...new Set(symbols.map(({ category }) => category))].join(', ');
      return { text: `No symbol matches "${query}". Search for another word or a category: ${categories}.` };
    }
    return { text: found.map(line).join('\n') };
  },
});

function search(query: string, symbols: readonly ListedSymbol[]): ListedSymbol[] {
  const bySymbol = new Map(symbols.map((one) => [one.symbol, one]));
  const index = new SymbolSearch(
    symbols.map((one) => ({
      code: one.symbol,
      name: one.name,
      category: one.category,
      status: one.status as 'active' | 'deprecated',
      updateInterval: one.updateInterval as UpdateInterval,
    })),
    [],
  );
  const exact = bySymbol.get(query.trim().toUpperCase());
  const found = index.suggest(query).flatMap((code) => bySymbol.get(code) ?? []);
  const symbolsFirst = found.toSorted((a, b) => Number('formula' in a) - Number('formula' in b));
  return [...new Set([...(exact ? [exact] : []), ...symbolsFirst])];
}

function line({
  symbol,
  name,
  category,
  currency,
  unit,
  status,
  updateInterval,
  formula,
  ...dates
}: ListedSymbol): string {
  const { firstDate, lastDate } = dates;
  const range = firstDate && lastDate ? `prices from ${firstDate} to ${lastDate}` : 'no prices yet';
  const isIncomplete = currency.code === 'none' || unit.symbol === 'none';
  const per = isIncomplete
    ? measure({ quote: currency.code, unit: unit.symbol })
    : `${currency.code} per ${unit.name}`;
  const deprecated = status === 'deprecated' ? ', deprecated' : '';
  const computed = formula === undefined ? '' : `, computed as ${formula}`;
  return `${symbol}: ${name} (${category}), ${per}, one price per ${updateInterval}, ${range}${deprecated}${computed}`;
}
