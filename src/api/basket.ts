import type { Catalog } from '../board/catalog.ts';
import type { Series } from '../board/series.ts';
import { SeenBefore } from '../http/seen-before.ts';
import { DayLines } from './day-lines.ts';
import { partsOf } from './query.ts';

/** A symbol as it was asked for. The answer uses this code, also where it is an alias. */
export interface AskedSymbol {
  code: string;
  series: Series;
}

/** Symbols that are asked for together. */
export class Basket {
  /** In the order asked, without doubles. */
  readonly codes: readonly string[];
  /** Their lines in time series, where it is kept. */
  readonly lines: DayLines | undefined;
  #catalog: Catalog | undefined;
  #symbols: readonly AskedSymbol[] = [];

  constructor(codes: readonly string[], isKept: boolean) {
    this.codes = codes;
    this.lines = isKept ? new DayLines() : undefined;
  }

  /** Those that are known. */
  symbolsIn(catalog: Catalog): readonly AskedSymbol[] {
    if (this.#catalog === catalog) return this.#symbols;
    const symbols: AskedSymbol[] = [];
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
const BASKETS_MAX = 2_000;
const baskets = new Map<string, Basket>();
const seen = new SeenBefore();

/**
 * The basket that a list of codes means: split, trimmed, upper-cased, without empties and doubles. Clients ask for the same
 * ones again and again, on other days. One that came twice is kept with what was worked out for it, the oldest going first.
 */
export function basketOf(list: string): Basket {
  const known = baskets.get(list);
  if (known) return known;
  const codes = new Set<string>();
  for (const part of partsOf(list, ',')) {
    const code = part.trim().toUpperCase();
    if (code !== '') codes.add(code);
  }
  const isKept = list.length <= LENGTH_MAX && seen.has(list);
  const basket = new Basket([...codes], isKept);
  if (!isKept) return basket;
  if (baskets.size >= BASKETS_MAX) {
    const [oldest, { lines }] = baskets.entries().next().value!;
    lines?.forget();
    baskets.delete(oldest);
  }
  baskets.set(list, basket);
  return basket;
}
