import type { Catalog } from '../../board/catalog.ts';
import { BoundedCache, copyText, textBytes } from '../../runtime/bounded-cache.ts';
import type { RequestedSymbol } from '../model/price-query.ts';
import { partsOf } from '../model/query.ts';

/** The symbols of one request. */
export class SymbolSet {
  /** In the order of the request, without duplicates. */
  readonly codes: readonly string[];
  /** The list as it was sent, if it was requested before. It identifies the set. */
  readonly list: string | undefined;
  #catalog: Catalog | undefined;
  #symbols: readonly RequestedSymbol[] = [];

  constructor(codes: readonly string[], list?: string) {
    this.codes = codes;
    this.list = list;
  }

  /** The symbols that the catalog knows. */
  symbolsIn(catalog: Catalog): readonly RequestedSymbol[] {
    if (this.#catalog === catalog) return this.#symbols;
    const symbols: RequestedSymbol[] = [];
    for (const code of this.codes) {
      const series = catalog.find(code);
      if (series) symbols.push({ code, series });
    }
    this.#symbols = symbols;
    this.#catalog = catalog;
    return symbols;
  }
}

const LENGTH_MAX = 1_000;
/** What a symbol set takes beside its codes, and for each code; measured. */
const SET_BYTES = 500;
const CODE_BYTES = 100;
/** Until the service sets its own limit. */
const BYTES_MAX_DEFAULT = 4 * 1024 * 1024;

/** The symbol sets of the process, by list. */
export const symbolSetCache = new BoundedCache<string, SymbolSet>({
  bytesMax: BYTES_MAX_DEFAULT,
  admitsOnSecondUse: true,
});

/**
 * Parses a list of codes: split, trimmed, upper-cased, without empty entries and duplicates. Clients repeat their lists, so a
 * set is cached from the second request on.
 */
export function symbolSetOf(list: string): SymbolSet {
  const known = symbolSetCache.get(list);
  if (known) return known;
  if (list.length > LENGTH_MAX || !symbolSetCache.admits(list)) return new SymbolSet(codesIn(list));
  const own = copyText(list); // a slice would keep the whole request head in memory
  const codes = codesIn(own);
  const symbolSet = new SymbolSet(codes, own);
  symbolSetCache.set(own, symbolSet, SET_BYTES + CODE_BYTES * codes.length + textBytes(own));
  return symbolSet;
}

function codesIn(list: string): string[] {
  const codes = new Set<string>();
  for (const part of partsOf(list, ',')) {
    const code = part.trim().toUpperCase();
    if (code !== '') codes.add(code);
  }
  return [...codes];
}
