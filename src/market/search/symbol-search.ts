import type { SymbolRecord, UpdateInterval } from '../symbol.ts';
import { type KnownCode, knownCode, nearestCodes, typosBetween } from './similar-codes.ts';

type SearchedSymbol = Pick<SymbolRecord, 'code' | 'name' | 'category' | 'status' | 'updateInterval'>;

interface Entry {
  symbol: SearchedSymbol;
  /** The words of its name. */
  name: readonly KnownCode[];
  /** Its name without spaces and punctuation. */
  compactName: string;
  category: readonly KnownCode[];
}

/** How many symbols are suggested. */
const COUNT = 5;

/** Shorter words match only exactly: almost any two words of three letters are two typos apart. */
const INEXACT_FROM_LENGTH = 4;

/** Symbols with frequent prices are the ones that most people mean. */
const INTERVAL_RANK: Readonly<Record<UpdateInterval, number>> = { minute: 0, day: 1, week: 2, month: 3 };

/** Pairs such as XAUUSD name the currency as well. */
const PAIR = /^(?:USD|EUR|GBP)(.{2,})$|^(.{2,})(?:USD|EUR|GBP)$/;

/** Suggests symbols for a wrong code: by name, by a known code within it, by category, or by spelling. */
export class SymbolSearch {
  readonly #entries: readonly Entry[];
  /** Codes and aliases, and the code that each stands for. */
  readonly #codes: ReadonlyMap<string, string>;
  readonly #spellings: readonly KnownCode[];

  constructor(symbols: readonly SearchedSymbol[], aliases: readonly { alias: string; code: string }[]) {
    this.#entries = symbols.map((symbol) => ({
      symbol,
      name: wordsOf(symbol.name),
      compactName: compact(symbol.name),
      category: wordsOf(symbol.category),
    }));
    const codes = new Map(symbols.map(({ code }) => [code, code]));
    for (const { alias, code } of aliases) codes.set(alias, code);
    this.#codes = codes;
    this.#spellings = [...codes.keys()].map(knownCode);
  }

  /** The best first. */
  suggest(wrong: string): string[] {
    const words = wordsOf(wrong);
    const byName = this.#byName(wrong, words);
    const contained = this.#containedCodes(words);
    const inCategory = byName.length + contained.length === 0 ? this.#inCategory(words) : [];
    const matches = [...byName, ...contained, ...inCategory];
    // With a better match at hand, only an obvious typo is worth mentioning: LITHIUM is not INDIUM.
    const misspelled = nearestCodes(wrong, this.#spellings, 3, matches.length > 0 ? 1 : undefined);
    // A typo explains the whole code, a known code within it only a part: WTIOIL-SPOTT is not WTIOIL.
    const ranked =
      contained.length > 0 ? [...byName, ...misspelled, ...contained] : [...matches, ...misspelled];
    return [...new Set(ranked)].slice(0, COUNT);
  }

  /** The symbols whose name has all of these words. */
  #byName(wrong: string, words: readonly KnownCode[]): string[] {
    const compactWrong = compact(wrong);
    const ranked: { symbol: SearchedSymbol; rank: number[] }[] = [];
    for (const { symbol, name, compactName } of this.#entries) {
      const isStart = compactWrong.length > INEXACT_FROM_LENGTH && compactName.startsWith(compactWrong);
      const mismatch = isStart ? 0 : mismatchOf(words, name);
      if (mismatch === undefined) continue;
      const isInCode = words.some(({ code }) => symbol.code.includes(code));
      ranked.push({ symbol, rank: [mismatch, ...importance(symbol), isInCode ? 0 : 1, name.length] });
    }
    ranked.sort((a, b) => compareRanks(a.rank, b.rank) || (a.symbol.code < b.symbol.code ? -1 : 1));
    return ranked.map(({ symbol }) => symbol.code);
  }

  /** Known codes and aliases within a wrong one: GC in GC=F, XAU in XAU/USD and in XAUUSD. */
  #containedCodes(words: readonly KnownCode[]): string[] {
    return words.flatMap(({ code: word }) => {
      const [, afterCurrency, beforeCurrency] = PAIR.exec(word) ?? [];
      const known = this.#codes.get(word) ?? this.#codes.get(afterCurrency ?? beforeCurrency ?? '');
      return known === undefined ? [] : [known];
    });
  }

  #inCategory(words: readonly KnownCode[]): string[] {
    const symbols = this.#entries
      .filter(({ category }) => mismatchOf(words, category) !== undefined)
      .map(({ symbol }) => symbol);
    symbols.sort((a, b) => compareRanks(importance(a), importance(b)) || (a.code < b.code ? -1 : 1));
    return symbols.map(({ code }) => code);
  }
}

function wordsOf(text: string): KnownCode[] {
  return text
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .filter((word) => word !== '')
    .map(knownCode);
}

function compact(text: string): string {
  return text.toUpperCase().replace(/[^A-Z0-9]+/g, '');
}

/** How many words match only inexactly; undefined if one does not match at all, or there are none. */
function mismatchOf(words: readonly KnownCode[], among: readonly KnownCode[]): number | undefined {
  if (words.length === 0) return undefined;
  let inexact = 0;
  for (const word of words) {
    if (among.some(({ code }) => code === word.code)) continue;
    if (!among.some((other) => isSimilar(word, other))) return undefined;
    inexact++;
  }
  return inexact;
}

/** A beginning, or one typo: OATS is OAT, and ALUMINUM is ALUMINIUM. */
function isSimilar(word: KnownCode, other: KnownCode): boolean {
  if (word.code.length < INEXACT_FROM_LENGTH) return false;
  return other.code.startsWith(word.code) || typosBetween(word, other, 1) <= 1;
}

function importance({ status, updateInterval }: SearchedSymbol): number[] {
  return [status === 'deprecated' ? 1 : 0, INTERVAL_RANK[updateInterval]];
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const i = a.findIndex((value, index) => value !== b[index]);
  return i < 0 ? 0 : a[i]! - b[i]!;
}
