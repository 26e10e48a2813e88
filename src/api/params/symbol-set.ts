import type { Catalog } from '../../board/catalog.ts';
import { BoundedCache, copyText, textBytes } from '../../runtime/bounded-cache.ts';
import type { RequestedSymbol } from '../model/price-query.ts';
import { partsOf } from '../model/query.ts';
import { DayLines } from '../response/day-lines.ts';

/** Symbols that are asked for together. */
export class SymbolSet {
  /** In the order asked, without doubles. */
  readonly codes: readonly string[];
  /** Their lines in time series, where it is kept. */
  readonly lines: DayLines | undefined;
  #catalog: Catalog | undefined;
  #symbols: readonly RequestedSymbol[] = [];

  constructor(codes: readonly string[], isKept: boolean) {
    this.codes = codes;
    this.lines = isKept ? new DayLines() : undefined;
  }

  /** Those that are known. */
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
/** What a symbol set takes beside its codes, and for each of them; measured. */
const SET_BYTES = 500;
const CODE_BYTES = 100;
/** Until the service sets its own limit. */
const BYTES_MAX_DEFAULT = 4 * 1024 * 1024;

/** The symbol sets of the process, by their lists. */
export const symbolSetCache = new BoundedCache<string, SymbolSet>({
  bytesMax: BYTES_MAX_DEFAULT,
  admitsOnSecondUse: true,
  onEvict: ({ lines }) => lines?.forget(),
});

/**
 * The symbol set that a list of codes means: split, trimmed, upper-cased, without empties and doubles. Clients ask for the same
 * ones again and again, on other days. One that came twice is cached, with what was worked out for it.
 */
export function symbolSetOf(list: string): SymbolSet {
  const known = symbolSetCache.get(list);
  if (known) return known;
  if (list.length > LENGTH_MAX || !symbolSetCache.admits(list)) return new SymbolSet(codesIn(list), false);
  const own = copyText(list); // `list` and its codes are parts of the request's head, and would keep all of it
  const codes = codesIn(own);
  const symbolSet = new SymbolSet(codes, true);
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
