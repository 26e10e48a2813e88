import type { NamedFormula } from '../ledger/symbols/formulas.ts';
import type { Alias, LedgerSymbol } from '../ledger/symbols/symbols.ts';
import { SymbolSearch } from '../market/search/symbol-search.ts';
import { BoundedCache, copyText } from '../runtime/bounded-cache.ts';
import type { SymbolSeries } from './series/symbol-series.ts';

/** Longer codes have no near match: known codes have at most 32 characters. */
const NEAREST_LENGTH_MAX = 40;
/** Estimated size of a cached suggestion. */
const NEAREST_BYTES = 400;
/** Used by commands and tests. The service sets its own limit. */
const NEAREST_BYTES_MAX_DEFAULT = 1024 * 1024;

/** What a catalog is made of. */
export interface CatalogEntries {
  symbols: readonly LedgerSymbol[];
  aliases: readonly Alias[];
  /** Exchange rates to the euro. */
  currencies: readonly LedgerSymbol[];
  formulas: readonly NamedFormula[];
}

/** Finds symbols by code or alias. */
export class Catalog {
  static #lastId = 0;
  /** Unique in the process. Caches refer to it by this number: a reference would keep an earlier catalogue in memory. */
  readonly id = ++Catalog.#lastId;
  /** Sorted by code. */
  readonly symbols: readonly LedgerSymbol[];
  /** The series of `symbols`, in the same order. */
  readonly series: readonly SymbolSeries[];
  /** Whether a real price of any symbol or currency has ever been recorded. */
  readonly hasRealPrices: boolean;
  /** The named formulas, sorted by code. `find` does not return them. */
  readonly formulas: readonly NamedFormula[];
  readonly #byCode = new Map<string, SymbolSeries>();
  /** Exchange rates for 1 EUR by currency, sorted. `find` does not return them. */
  readonly #currencies = new Map<string, SymbolSeries>();
  /**
   * Suggestions for unknown codes, shared by all catalogs of the process: each change of a symbol creates a new catalog. A
   * client that sends a wrong code tends to repeat it.
   */
  static readonly nearestCache = new BoundedCache<string, { catalogId: number; codes: string[] }>({
    bytesMax: NEAREST_BYTES_MAX_DEFAULT,
  });
  readonly aliases: readonly Alias[];
  #search: SymbolSearch | undefined;

  /** `series` has the series of every symbol and currency, by its id. */
  constructor(entries: CatalogEntries, series: ReadonlyMap<number, SymbolSeries>) {
    const { symbols, aliases, currencies, formulas } = entries;
    this.formulas = formulas;
    this.symbols = symbols.toSorted((a, b) => (a.code < b.code ? -1 : 1));
    this.aliases = aliases;
    this.series = this.symbols.map(({ id }) => series.get(id)!);
    this.hasRealPrices = [...symbols, ...currencies].some(({ real }) => real);
    for (const symbol of symbols) this.#byCode.set(symbol.code, series.get(symbol.id)!);
    for (const { alias, code } of aliases) this.#byCode.set(alias, this.#byCode.get(code)!);
    for (const { id, currency } of currencies) this.#currencies.set(currency.code, series.get(id)!);
  }

  /** The series of a code or alias, in upper case. */
  find(code: string): SymbolSeries | undefined {
    return this.#byCode.get(code);
  }

  /** The currencies that have an exchange rate to the euro. */
  get currencies(): string[] {
    return [...this.#currencies.keys()];
  }

  /** The series of an exchange rate: units of the currency for 1 EUR. */
  exchangeRate(currency: string): SymbolSeries | undefined {
    return this.#currencies.get(currency);
  }

  /** Codes that may be meant by an unknown one. */
  nearest(code: string): string[] {
    if (code.length > NEAREST_LENGTH_MAX) return [];
    const { nearestCache } = Catalog;
    const known = nearestCache.get(code);
    if (known?.catalogId === this.id) return known.codes;
    this.#search ??= new SymbolSearch(this.symbols, this.aliases);
    const codes = this.#search.suggest(code);
    nearestCache.set(copyText(code), { catalogId: this.id, codes }, NEAREST_BYTES);
    return codes;
  }
}
