import type { MarketSymbol } from '../api/answers.ts';
import { formulaSymbol } from '../data/formula.ts';
import { codeNamed, type Searchable, searchSymbols } from './match.ts';
import { readFormula } from './read-formula.ts';

const SHOWN_MAX = 8;

/** The symbols and named formulas that fit a text, best first, after the formula that it may be. */
export function optionsFor(market: Searchable, text: string, excluded: readonly string[]): MarketSymbol[] {
  const formula = readFormula(text, (code) => codeNamed(market, code));
  const written = formula === undefined ? undefined : formulaSymbol(formula, market.symbols);
  const { symbols, formulas, aliases } = market;
  const found = searchSymbols({ symbols: [...symbols, ...formulas], aliases }, text);
  const options = written ? [written, ...found] : found;
  return options.filter(({ symbol }) => !excluded.includes(symbol)).slice(0, SHOWN_MAX);
}
