import type { Alias, LedgerSymbol } from '../ledger/symbols/symbols.ts';
import { type KnownCode, knownCode, nearestCodes } from '../market/symbol.ts';
import { BoundedCache, copyText } from '../runtime/bounded-cache.ts';
import type { Series } from './series/series.ts';

/** No known code is like one that is longer: codes have at most 32 characters. */
const NEAREST_LENGTH_MAX = 40;
const NEAREST_BYTES = 400;
/** Until the service sets its own limit. */
const NEAREST_BYTES_MAX_DEFAULT = 1024 * 1024;

/** The symbols by every code that may be asked for. */
export class Catalog {
  /** Sorted by code. */
  readonly symbols: readonly LedgerSymbol[];
  /** Whether a real price of any symbol or currency has ever been recorded. */
  readonly hasRealPrices: boolean;
  readonly #byCode = new Map<string, Series>();
  /** The rates to 1 EUR by currency, sorted. They are no symbols: no code finds them. */
  readonly #currencies = new Map<string, Series>();
  /** Codes that are like a wrong one. A program that asks for it once asks for it again. */
  static readonly nearestCache = new BoundedCache<string, { catalog: Catalog; codes: string[] }>({
    bytesMax: NEAREST_BYTES_MAX_DEFAULT,
  });
  #codes: readonly KnownCode[] | undefined;

  constructor(
    symbols: readonly LedgerSymbol[],
    aliases: readonly Alias[],
    currencies: readonly LedgerSymbol[],
    series: ReadonlyMap<number, Series>,
  ) {
    this.symbols = symbols.toSorted((a, b) => (a.code < b.code ? -1 : 1));
    this.hasRealPrices = [...symbols, ...currencies].some(({ real }) => real);
    for (const symbol of symbols) this.#byCode.set(symbol.code, series.get(symbol.id)!);
    for (const { alias, code } of aliases) this.#byCode.set(alias, this.#byCode.get(code)!);
    for (const { id, currency } of currencies) this.#currencies.set(currency.code, series.get(id)!);
  }

  /** The series behind a code or an alias, which must be upper-cased. */
  find(code: string): Series | undefined {
    return this.#byCode.get(code);
  }

  /** The currencies whose rate to the euro is kept. */
  get currencies(): string[] {
    return [...this.#currencies.keys()];
  }

  /** The series of a currency's rate: units of it for 1 EUR. */
  exchangeRate(currency: string): Series | undefined {
    return this.#currencies.get(currency);
  }

  /** Known codes that are like a wrong one. */
  nearest(code: string): string[] {
    if (code.length > NEAREST_LENGTH_MAX) return [];
    const { nearestCache } = Catalog;
    const known = nearestCache.get(code);
    if (known?.catalog === this) return known.codes;
    this.#codes ??= [...this.#byCode.keys()].map(knownCode);
    const codes = nearestCodes(code, this.#codes);
    nearestCache.set(copyText(code), { catalog: this, codes }, NEAREST_BYTES);
    return codes;
  }
}
