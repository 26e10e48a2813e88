import type { Ohlc } from './bar.ts';

/** How often a symbol's price is published. */
export type UpdateInterval = 'minute' | 'day' | 'week' | 'month';

export interface SymbolRecord {
  code: string;
  name: string;
  category: string;
  currency: { code: string; name: string; symbol: string };
  unit: { symbol: string; name: string };
  /** A key of MARKETS: it gives the session and the time zone. */
  market: string;
  /** How many decimals its prices usually have. */
  decimals: number;
  /** `currency`: the exchange rate of a currency, which is never listed. */
  status: 'active' | 'deprecated' | 'currency';
  updateInterval: UpdateInterval;
}

/**
 * How far back a closed day looks for the last bar, in days. 14: the longest exchange closure plus margin.
 * A weekly value is valid for a week and a monthly one for a month, and both are published late.
 */
export const LOOK_BACK_DAYS: Readonly<Record<UpdateInterval, number>> = {
  minute: 14,
  day: 14,
  week: 21,
  month: 100,
};

/** Units of energy that is delivered continuously. What cannot be stored may have a negative price. */
const FLOWING_UNITS: ReadonlySet<string> = new Set(['Bbl', 'Gal', 'MMBtu', 'MWh', 'kWh', 'Thm', 'GJ', 'm3']);
const ENERGY: ReadonlySet<string> = new Set(['energy', 'electricity', 'power']);

/**
 * Whether a price can be zero or below. Oil, gas and power can: WTI settled at −37.63 on 2020-04-20. Nothing else can,
 * coal and uranium included, which are sold by weight: there, 0 means a missing value.
 */
export function canBeZero({ category, unit }: Pick<SymbolRecord, 'category' | 'unit'>): boolean {
  return ENERGY.has(category.toLowerCase()) && FLOWING_UNITS.has(unit.symbol);
}

/** Why these are not prices: one of them is 0, and the symbol's price cannot be. Undefined when they can be prices. */
export function missingPrice(prices: Ohlc | { price: number }, canBe: boolean): string | undefined {
  const isZero = 'price' in prices ? prices.price === 0 : PRICES.some((name) => prices[name] === 0);
  return isZero && !canBe ? '0 is not a price: it stands for a missing value' : undefined;
}
const PRICES = ['open', 'high', 'low', 'close'] as const;

/** What a code may look like, once upper-cased. */
export const CODE_PATTERN = /^[A-Z0-9][A-Z0-9._-]{0,31}$/;

/** A code with more typos than this is not suggested. */
const SLIPS_MAX = 3;

/** A code, and which characters it has. */
export interface KnownCode {
  code: string;
  /** A bit for each character, by its number modulo 32. */
  characters: number;
}

export function knownCode(code: string): KnownCode {
  return { code, characters: charactersOf(code) };
}

/**
 * Up to `count` known codes that are most similar to a wrong one, best first: codes that start with it or contain it, and
 * codes within a small edit distance, at most half of its length. Most codes are ruled out by their length and characters
 * alone, so a wrong code is cheap even with thousands of symbols.
 */
export function nearestCodes(wrong: string, known: Iterable<string | KnownCode>, count = 3): string[] {
  const farthest = Math.min(SLIPS_MAX, Math.floor(wrong.length / 2));
  const characters = charactersOf(wrong);
  const ranked: { code: string; distance: number }[] = [];
  for (const one of known) {
    const { code, characters: own } = typeof one === 'string' ? knownCode(one) : one;
    const partOfIt =
      (wrong.length >= 2 && code.startsWith(wrong)) || (wrong.length >= 3 && code.includes(wrong));
    // Each character that only one of the two has takes a change, and a change removes at most one from each.
    const isFar = bits(characters & ~own) > farthest || bits(own & ~characters) > farthest;
    const distance = partOfIt ? 1 : isFar ? farthest + 1 : editDistance(wrong, code, farthest);
    if (distance <= farthest) ranked.push({ code, distance });
  }
  ranked.sort((a, b) => a.distance - b.distance || (a.code < b.code ? -1 : 1));
  return ranked.slice(0, count).map((entry) => entry.code);
}

function charactersOf(code: string): number {
  let characters = 0;
  for (let i = 0; i < code.length; i++) characters |= 1 << (code.charCodeAt(i) & 31);
  return characters;
}

/** How many bits are set. */
function bits(word: number): number {
  let count = 0;
  for (let left = word; left !== 0; left &= left - 1) count++;
  return count;
}

/** Letters to add, drop, replace or swap with their neighbour; `limit + 1` as soon as it must be more than the limit. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  let least = 0;
  for (let i = 1; i <= a.length; i++) {
    const leastBefore = least;
    const row = [i];
    least = i;
    for (let j = 1; j <= b.length; j++) {
      const replaced = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const best = Math.min(replaced, previous[j]! + 1, row[j - 1]! + 1);
      const distance = swapped ? Math.min(best, beforePrevious[j - 2]! + 1) : best;
      row.push(distance);
      if (distance < least) least = distance;
    }
    // A row builds on the two before it, so nothing below them can get better.
    if (least > limit && leastBefore > limit) return limit + 1;
    beforePrevious = previous;
    previous = row;
  }
  return previous[b.length]!;
}
