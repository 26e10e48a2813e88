import type { Ledger } from '../../ledger/ledger.ts';
import type { NamedFormula } from '../../ledger/symbols/formulas.ts';
import type { Alias, LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import { CENTS, ISO_CURRENCIES } from '../../market/currency.ts';
import { nearestCodes } from '../../market/search/similar-codes.ts';
import { marketOf } from '../../market/session.ts';
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
  readonly #formulas: ReadonlySet<string>;
  /** That have an exchange rate, or that a symbol is quoted in. */
  readonly #currencies: ReadonlySet<string>;
  readonly #found = new Map<string, RowSymbol>();
  readonly #all: RowSymbol[] = [];

  private constructor(
    symbols: readonly LedgerSymbol[],
    aliases: readonly Alias[],
    formulas: readonly NamedFormula[],
    rates: readonly LedgerSymbol[],
  ) {
    this.#symbols = new Map(symbols.map((symbol) => [symbol.code, symbol]));
    this.#aliases = aliases;
    this.#formulas = new Set(formulas.map(({ code }) => code));
    this.#currencies = new Set([...rates, ...symbols].map(({ currency }) => currency.code));
  }

  static async read(ledger: Ledger): Promise<FileSymbols> {
    const { symbols, formulas } = ledger;
    return new FileSymbols(
      await symbols.list(),
      await symbols.aliases(),
      await formulas.list(),
      await symbols.currencies(),
    );
  }

  /** The codes as written in the file, in order of appearance. */
  get codes(): string[] {
    return [...this.#found.keys()];
  }

  /** Throws UnknownSymbol, which names the line of the file that has the code, if there is one. */
  find(code: string, line?: number): RowSymbol {
    const known = this.#found.get(code);
    if (known) return known;
    const rateOf = EXCHANGE_RATE.exec(code)?.[1];
    const problem = rateOf && this.#problemWithRate(rateOf);
    if (problem) throw unknownSymbol(problem, line);
    const listed = rateOf === undefined ? this.#symbolOf(code, line) : undefined;
    const currency = rateOf ?? listed!.currency.code;
    const actual = listed?.code ?? code;
    let symbol = this.#all.find((one) => one.code === actual);
    if (!symbol) {
      const market = marketOf(listed?.market ?? 'SPOT'); // exchange rates have UTC days
      symbol = { number: this.#all.length, code: actual, currency, market };
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

  #symbolOf(code: string, line: number | undefined): LedgerSymbol {
    const symbol = this.#symbols.get(this.#aliases.find(({ alias }) => alias === code)?.code ?? code);
    if (symbol) return symbol;
    throw unknownSymbol(this.#problemWith(code), line);
  }

  /** Why there cannot be an exchange rate of a currency; undefined if there can. */
  #problemWithRate(currency: string): string | undefined {
    if (currency === 'EUR') return 'there is no exchange rate EUR/EUR: it is always 1.';
    const whole = CENTS[currency];
    if (whole)
      return `there is no exchange rate EUR/${currency}: it is computed from EUR/${whole}; import that.`;
    if (this.#currencies.has(currency) || ISO_CURRENCIES.includes(currency)) return undefined;
    const nearest = nearestCodes(currency, this.#currencies).map((code) => `EUR/${code}`);
    const hint = nearest.length > 0 ? ` Did you mean ${nearest.join(', ')}?` : '';
    return `there is no exchange rate EUR/${currency}: "${currency}" is neither a currency of ISO 4217 nor that of a symbol.${hint}`;
  }

  #problemWith(code: string): string {
    if (this.#formulas.has(code))
      return `${code} is a formula; import the prices of the symbols that it is computed from.`;
    if (/^[A-Z]{3}\/[A-Z]{3}$/.test(code))
      return `there is no symbol ${code}. Exchange rates are imported for 1 euro, such as EUR/USD.`;
    const known = [...this.#symbols.keys(), ...this.#aliases.map(({ alias }) => alias)];
    const nearest = nearestCodes(code, known);
    const hint = nearest.length > 0 ? ` Did you mean ${nearest.join(', ')}?` : '';
    return `there is no symbol ${code.slice(0, 60)}.${hint} openpit symbols list shows all.`;
  }
}

function unknownSymbol(problem: string, line: number | undefined): UnknownSymbol {
  return new UnknownSymbol(line === undefined ? problem : `line ${line}: ${problem}`);
}
