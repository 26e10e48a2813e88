import type { Ledger } from '../../ledger/ledger.ts';
import type { Alias, LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import { nearestCodes } from '../../market/symbol.ts';
import type { RowSymbol } from './row-reader.ts';

/** Not a symbol of the catalogue, but the units of a currency for 1 EUR. */
const EXCHANGE_RATE = /^EUR\/([A-Z]{3})$/;

/** A code that no symbol has. */
export class UnknownSymbol extends Error {}

/**
 * The symbols that a file is of, numbered as they appear. An exchange rate gets its place in the ledger only when the
 * file is published, so that a file that is rejected changes nothing.
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

  /** The codes as the file has them, in the order in which they appear. */
  get codes(): string[] {
    return [...this.#found.keys()];
  }

  /** Throws UnknownSymbol. */
  find(code: string): RowSymbol {
    const known = this.#found.get(code);
    if (known) return known;
    const currency = EXCHANGE_RATE.exec(code)?.[1] ?? this.#symbolOf(code).currency.code;
    const meant = EXCHANGE_RATE.test(code) ? code : this.#symbolOf(code).code;
    let symbol = this.#all.find((one) => one.code === meant);
    if (!symbol) {
      symbol = { number: this.#all.length, code: meant, currency };
      this.#all.push(symbol);
    }
    this.#found.set(code, symbol);
    return symbol;
  }

  /** Their ids in the ledger, by their number. */
  async ids(ledger: Ledger): Promise<number[]> {
    const ids: number[] = [];
    for (const { code, currency } of this.#all) {
      const isRate = EXCHANGE_RATE.test(code);
      const rate = isRate ? (await ledger.symbols.addCurrencies([currency])).get(currency) : undefined;
      ids.push((rate ?? this.#symbols.get(code))!.id);
    }
    return ids;
  }

  /** The same without adding anything to the ledger: an exchange rate that is new has a number below zero. */
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
