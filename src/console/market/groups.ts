import type { MarketSymbol } from '../api/answers.ts';
import type { MarketRows } from '../data/market/rows.ts';
import { type Sorting, sorted } from '../data/market/sorting.ts';
import { type Searchable, searchSymbols } from '../search/match.ts';

/** Symbols under one title. */
export interface MarketGroup {
  name: string;
  symbols: readonly MarketSymbol[];
}

export const ALL = 'All';
export const WATCHLIST = 'Watchlist';

/** What most people look for comes first; a category that is not named here comes after. */
const ORDER = ['Metals', 'Energy', 'Agriculture', 'Livestock', 'Industrial', 'Raw Materials'];

/** The symbols of a category that fit a text: the best first, or by name without a text. */
export function filterSymbols(
  market: Searchable,
  text: string,
  category: string,
  watched: readonly string[],
): MarketSymbol[] {
  const found = searchSymbols(market, text).filter((one) => {
    if (category === WATCHLIST) return watched.includes(one.symbol);
    return category === ALL || one.category === category;
  });
  return text.trim() === '' ? found.sort((a, b) => a.name.localeCompare(b.name)) : found;
}

/** By category, after the watchlist. A ranking and the watchlist alone are one list. */
export function groupsOf(
  found: readonly MarketSymbol[],
  category: string,
  sorting: Sorting,
  watched: readonly string[],
  rows: MarketRows,
): MarketGroup[] {
  if (found.length === 0) return [];
  if (sorting !== 'Name') return [{ name: sorting, symbols: sorted(found, sorting, rows) }];
  if (category === WATCHLIST) return [{ name: WATCHLIST, symbols: found }];
  const byCategory = Map.groupBy(found, (one) => one.category);
  const own = found.filter((one) => watched.includes(one.symbol));
  const groups = categoriesOf(found).map((name) => ({ name, symbols: byCategory.get(name)! }));
  return own.length > 0 ? [{ name: WATCHLIST, symbols: own }, ...groups] : groups;
}

/** How many rows a group shows, so that all groups together show at most `rowsMax`. Short groups leave their share to others. */
export function rowsPerGroup(groups: readonly MarketGroup[], rowsMax: number): number {
  const lengths = groups.map(({ symbols }) => symbols.length).sort((a, b) => a - b);
  let left = rowsMax;
  for (const [i, length] of lengths.entries()) {
    const share = Math.floor(left / (lengths.length - i));
    if (length > share) return share;
    left -= length;
  }
  return rowsMax;
}

/** Distributes groups over two columns of similar height. Each keeps the order, and the first group is in the first. */
export function inColumns(
  groups: readonly MarketGroup[],
  heightOf: (group: MarketGroup) => number,
): MarketGroup[][] {
  const columns: { height: number; groups: MarketGroup[] }[] = [
    { height: 0, groups: [] },
    { height: 0, groups: [] },
  ];
  for (const group of groups.toSorted((a, b) => heightOf(b) - heightOf(a))) {
    const shortest = columns[0]!.height <= columns[1]!.height ? columns[0]! : columns[1]!;
    shortest.groups.push(group);
    shortest.height += heightOf(group);
  }
  return columns
    .map((column) => groups.filter((group) => column.groups.includes(group)))
    .sort(([a]) => (a === groups[0] ? -1 : 1));
}

export function categoriesOf(symbols: readonly MarketSymbol[]): string[] {
  const place = (name: string) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  const names = new Set(symbols.map((one) => one.category));
  return [...names].sort((a, b) => place(a) - place(b) || a.localeCompare(b));
}
