import type { MarketSymbol } from '../api/answers.ts';
import { typosBetween } from './typos.ts';

/** The symbols and formulas that can be found, and the symbol of every other code and ticker. */
export interface Searchable {
  symbols: readonly MarketSymbol[];
  /** Named formulas, which can replace a symbol, but not inside another formula. */
  formulas: readonly MarketSymbol[];
  aliases: Readonly<Record<string, string>>;
  /** Whether all symbols are loaded, so that one that is not found does not exist. */
  isComplete: boolean;
}

/** How well a word of the query fits a word of the symbol. */
const EXACT = 100;
const PREFIX = 75;
const INSIDE = 45;
const TYPO = 40;
const PER_TYPO = 12;

/** What a fit counts for, by where it is. */
const CODE_WEIGHT = 1;
const NAME_WEIGHT = 0.95;
const OTHER_WEIGHT = 0.4;

/** A short word with a typo could be any other. */
const TYPOS_FROM_LETTERS = [
  { letters: 7, typos: 2 },
  { letters: 4, typos: 1 },
];

/** The symbols that fit all words of a text: by code, ticker, name, category or unit, also with typos. The best come first. */
export function searchSymbols(
  { symbols, aliases }: Pick<Searchable, 'symbols' | 'aliases'>,
  text: string,
): MarketSymbol[] {
  const words = wordsOf(text).map(fitTo);
  if (words.length === 0) return [...symbols];
  const tickers = Map.groupBy(Object.entries(aliases), ([, code]) => code);
  const scored: { symbol: MarketSymbol; score: number }[] = [];
  for (const symbol of symbols) {
    const codes = [symbol.symbol, ...(tickers.get(symbol.symbol) ?? []).map(([alias]) => alias)];
    const score = scoreOf(symbol, codes, words);
    if (score > 0) scored.push({ symbol, score });
  }
  const best = Math.max(...scored.map(({ score }) => score));
  // If something matches without typos, matches with typos are only noise.
  const isGood = (score: number) => best <= TYPO * words.length || score > TYPO * words.length * OTHER_WEIGHT;
  return scored
    .filter(({ score }) => isGood(score))
    .sort((a, b) => b.score - a.score || a.symbol.name.localeCompare(b.symbol.name))
    .map(({ symbol }) => symbol);
}

/** The code that a text names exactly: a symbol's own, or another one for it. */
export function codeNamed({ symbols, aliases }: Searchable, text: string): string | undefined {
  const code = text.toUpperCase();
  return symbols.some(({ symbol }) => symbol === code) ? code : aliases[code];
}

/** How well a word of a symbol fits one of the query. */
type Fit = (candidate: string) => number;

function scoreOf(symbol: MarketSymbol, codes: readonly string[], words: readonly Fit[]): number {
  const names = wordsOf(symbol.name);
  const others = wordsOf(`${symbol.category} ${symbol.unit.name} ${symbol.currency.code}`);
  const lowerCodes = codes.map((code) => code.toLowerCase());
  let sum = 0;
  for (const fit of words) {
    const best = Math.max(
      CODE_WEIGHT * bestFit(lowerCodes, fit),
      NAME_WEIGHT * bestFit(names, fit),
      OTHER_WEIGHT * bestFit(others, fit),
    );
    if (best === 0) return 0;
    sum += best;
  }
  // Shorter names come first among equal matches: "Gold" before "Gold, Monthly Average".
  return sum - names.length * 0.1;
}

function bestFit(candidates: readonly string[], fit: Fit): number {
  return Math.max(0, ...candidates.map(fit));
}

/** The names of thousands of symbols have the same words, and to count typos takes long. */
function fitTo(word: string): Fit {
  const known = new Map<string, number>();
  return (candidate) => {
    let fit = known.get(candidate);
    if (fit === undefined) {
      fit = fitOf(word, candidate);
      known.set(candidate, fit);
    }
    return fit;
  };
}

function fitOf(word: string, candidate: string): number {
  if (candidate === word) return EXACT;
  if (candidate.startsWith(word)) return PREFIX;
  if (candidate.includes(word)) return INSIDE;
  const max = TYPOS_FROM_LETTERS.find(({ letters }) => word.length >= letters)?.typos ?? 0;
  if (max === 0) return 0;
  // Also while the word is still being typed.
  const start = candidate.slice(0, word.length);
  const typos = Math.min(typosBetween(word, candidate, max), typosBetween(word, start, max));
  return typos > max ? 0 : TYPO - PER_TYPO * (typos - 1);
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[\s,()/]+/)
    .filter((word) => word !== '');
}
