import type { Alias, LedgerSymbol } from '../ledger/symbols.ts';
import { nearestCodes } from '../market/symbol.ts';
import type { Series } from './series.ts';

/** The symbols by every code that may be asked for. */
export class Catalog {
  /** Sorted by code. */
  readonly symbols: readonly LedgerSymbol[];
  readonly #byCode = new Map<string, Series>();

  constructor(
    symbols: readonly LedgerSymbol[],
    aliases: readonly Alias[],
    series: ReadonlyMap<number, Series>,
  ) {
    this.symbols = symbols.toSorted((a, b) => (a.code < b.code ? -1 : 1));
    for (const symbol of symbols) this.#byCode.set(symbol.code, series.get(symbol.id)!);
    for (const { alias, code } of aliases) this.#byCode.set(alias, this.#byCode.get(code)!);
  }

  /** The series behind a code or an alias, which must be upper-cased. */
  find(code: string): Series | undefined {
    return this.#byCode.get(code);
  }

  nearest(code: string): string[] {
    return nearestCodes(code, this.#byCode.keys());
  }
}
