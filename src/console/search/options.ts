import type { MarketSymbol } from '../api/answers.ts';
import { codesIn, formulaSymbol } from '../data/formula.ts';
import { codeNamed, type Searchable, searchSymbols } from './match.ts';
import { readFormula } from './read-formula.ts';

const SHOWN_MAX = 8;

/** The end of the code of a symbol that exists as spot and as futures. */
const KIND = /-(SPOT|FUT)$/;

/** The symbols and named formulas that fit a text, best first, after the formulas that it may be. */
export function optionsFor(market: Searchable, text: string, excluded: readonly string[]): MarketSymbol[] {
  const written = formulasIn(market, text).flatMap((formula) => formulaSymbol(formula, market.symbols) ?? []);
  const { symbols, formulas, aliases } = market;
  const found = searchSymbols({ symbols: [...symbols, ...formulas], aliases }, text);
  return [...written, ...found].filter(({ symbol }) => !excluded.includes(symbol)).slice(0, SHOWN_MAX);
}

/** What a text may mean as a formula. Of names that stand for spot and for futures, those of one kind come first. */
export function formulasIn(market: Searchable, text: string): string[] {
  const formula = readFormula(text, (name) => codeNamed(market, name));
  if (formula === undefined) return [];
  const kinds = new Set(codesIn(formula).flatMap((code) => KIND.exec(code)?.[0] ?? []));
  const ofOneKind = [...kinds].map((kind) => readFormula(text, (name) => codeOfKind(market, name, kind))!);
  return [...new Set(kinds.size > 1 ? [...ofOneKind, formula] : [formula])];
}

/** The code of a kind that a text names, if there is one and the text is no code itself. */
function codeOfKind(market: Searchable, name: string, kind: string): string | undefined {
  const code = codeNamed(market, name);
  if (code === undefined || code === name) return code;
  const other = code.replace(KIND, kind);
  return market.symbols.some(({ symbol }) => symbol === other) ? other : code;
}
