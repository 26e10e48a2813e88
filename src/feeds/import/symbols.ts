import type { Ledger } from '../../ledger/ledger.ts';
import type { Alias, LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import { nearestCodes } from '../../market/search/similar-codes.ts';
import type { RowSymbol } from './row-reader.ts';

/** Not a symbol of the catalogue, but the units of a currency for 1 EUR. */
const EXCHANGE_RATE = /^EUR\/([A-Z]{3})$/;

/** No symbol has this code. */
export class UnknownSymbol extends Error {}

/**
 * The symbols of a file, numbered in order of appearance. A new exchange rate is added to the ledger only when the file is
 * published, so that a rejected file changes nothing.
 */
export class FileSymbols {
  readonly #symbols: ReadonlyMap<string, LedgerSymbol>;
  readonly #aliases: readonly Alias[];
  readonly #found = new Map<string, RowSymbol>();
  readonly #all: RowSymbol[] = [];

  private constructor(symbols: readonly LedgerSymbol[], aliases: readonly Alias[]) {
    this.#symbols = new Map(symbols.map((symbol) => [symbol.code, symbol]));
    this.#aliases = aliases;
  }

  static async read(ledger: Ledger): Promise<FileSymbols> {
    return new FileSymbols(await ledger.symbols.list(), await ledger.symbols.aliases());
  }

  /** The codes as written in the file, in order of appearance. */
  get codes(): string[] {
    return [...this.#found.keys()];
  }

  /** Throws UnknownSymbol. */
  find(code: string): RowSymbol {
    const known = this.#found.get(code);
    if (known) return known;
    const currency = EXCHANGE_RATE.exec(code)?.[1] ?? this.#symbolOf(code).currency.code;
    const actual = EXCHANGE_RATE.test(code) ? code : this.#symbolOf(code).code;
    let symbol = this.#all.find((one) => one.code === actual);
    if (!symbol) {
      symbol = { number: this.#all.length, code: actual, currency };
      this.#all.push(symbol);
    }
    this.#found.set(code, symbol);
    return symbol;
  }

  /** The ledger ids, by the number of the symbol. */
  async ids(ledger: Ledger): Promise<number[]> {
    const ids: number[] = [];
    for (const { code, currency } of this.#all) {
      const isRate = EXCHANGE_RATE.test(code);
      const rate = isRate ? (await ledger.symbols.addCurrencies([currency])).get(currency) : undefined;
      ids.push((rate ?? this.#symbols.get(code))!.id);
    }
    return ids;
  }

  /** Like `ids`, but adds nothing to the ledger: a new exchange rate gets a negative id. */
  async knownIds(ledger: Ledger): Promise<number[]> {
    const rates = new Map((await ledger.symbols.currencies()).map(({ code, id }) => [code, id]));
    return this.#all.map(({ code, number }) => this.#symbols.get(code)?.id ?? rates.get(code) ?? -1 - number);
  }

  /** The code of the symbol with a number. */
  codeOf(number: number): string {
    return this.#all[number]!.code;
  }

  #symbolOf(code: string): LedgerSymbol {
    const symbol = this.#symbols.get(this.#aliases.find(({ alias }) => alias === code)?.code ?? code);
    if (symbol) return symbol;
    const known = [...this.#symbols.keys(), ...this.#aliases.map(({ alias }) => alias)];
    const nearest = nearestCodes(code, known);
    const hint = nearest.length > 0 ? ` Did you mean ${nearest.join(', ')}?` : '';
    throw new UnknownSymbol(
      `there is no symbol ${code.slice(0, 60)}.${hint} openpit symbols list shows all.`,
    );
  }
}
