import type { Day } from '../../market/day.ts';
import { futureDay, type Market } from '../../market/session.ts';
import { BoundedCache, copyText } from '../../runtime/bounded-cache.ts';
import type { ColumnIndexes } from '../csv/columns.ts';
import { type DateOrder, DateOrderFinder, needsDateOrder, readDay } from '../csv/dates.ts';
import {
  type DecimalMark,
  DecimalMarkFinder,
  isCurrency,
  needsDecimalMark,
  type ReadPrice,
  readPrice,
} from '../csv/numbers.ts';
import type { TextRow } from '../csv/row-splitter.ts';
import { quote } from '../formats/cell.ts';
import { isFootnote } from '../formats/table.ts';

/** How a file writes ambiguous dates and numbers. */
export interface Conventions {
  dateOrder: DateOrder | undefined;
  decimal: DecimalMark | undefined;
}

/** The symbol of a row. */
export interface RowSymbol {
  /** The index of the symbol in the file, from 0. */
  number: number;
  code: string;
  /** The currency of its prices, such as USD or USX. */
  currency: string;
  /** The market with its trade dates. */
  market: Market;
}

export interface RowRules {
  columns: ColumnIndexes;
  /** How many cells a row has at most, unless a separator inside a number has split it. */
  headerCells?: number | undefined;
  /** When the file is read: prices of later trade dates are refused. */
  now: number;
  /** Timestamps with an offset belong to their day in this IANA zone. */
  zone: string | undefined;
  /** The symbol for the text in the symbol column of a line. The text is empty if the file has no such column. */
  symbolOf(code: string, line: number): RowSymbol;
}

/** A row's bar, or that its value is missing, or why it is unusable. */
export type RowResult =
  | { kind: 'bar'; symbol: RowSymbol; day: Day; prices: readonly number[] }
  | { kind: 'missing' }
  | { kind: 'refused'; reason: string };

/** Memory for parsed days: a file of many symbols repeats them. */
const DAYS_BYTES_MAX = 16 * 1024 * 1024;
const DAY_BYTES = 8;

/** Reads rows, one at a time. */
export class RowReader {
  readonly #rules: RowRules;
  readonly #conventions: Conventions;
  readonly #days = new BoundedCache<string, Day>({ bytesMax: DAYS_BYTES_MAX });

  constructor(rules: RowRules, conventions: Conventions) {
    this.#rules = rules;
    this.#conventions = conventions;
  }

  /** Undefined for a footnote. */
  read({ cells, line }: TextRow): RowResult | undefined {
    if (isFootnote(cells)) return undefined;
    const { columns, now, symbolOf } = this.#rules;
    const dateText = cells[columns.date] ?? '';
    const day = this.#dayOf(dateText);
    if (day === undefined) return refused(notADate(dateText));
    const code = columns.symbol === undefined ? '' : (cells[columns.symbol] ?? '').toUpperCase();
    if (columns.symbol !== undefined && code === '') return refused('it has no symbol');
    if (this.#isSplit(cells)) return refused(split(cells.length, this.#rules.headerCells!));
    const texts = columns.prices.map((column) => cells[column] ?? '');
    const prices = texts.map((text) => readPrice(text, this.#conventions.decimal));
    if (prices.every((price) => price === 'missing')) return { kind: 'missing' };
    if (prices.includes('missing')) return refused(incomplete(prices));
    const wrong = prices.indexOf(undefined);
    if (wrong >= 0) return refused(this.#notANumber(texts[wrong]!));
    const symbol = symbolOf(code, line);
    const problem = futureDay(symbol.market, day, now);
    if (problem !== undefined) return refused(problem);
    const read = prices as ReadPrice[];
    const foreign = read.findIndex(({ currency }) => currency && !isCurrency(currency, symbol.currency));
    if (foreign >= 0)
      return refused(
        `${quote(texts[foreign]!)} is not in ${symbol.currency}, the currency of ${symbol.code}`,
      );
    return { kind: 'bar', symbol, day, prices: read.map(({ value }) => value) };
  }

  #dayOf(text: string): Day | undefined {
    const known = this.#days.get(text);
    if (known !== undefined) return known;
    const day = readDay(text, this.#conventions.dateOrder, this.#rules.zone);
    if (day !== undefined) this.#days.set(copyText(text), day, DAY_BYTES);
    return day;
  }

  /** Whether a number follows the last column of the header: `1,234.50` without quotes is 1 and 234.50. */
  #isSplit(cells: readonly string[]): boolean {
    const { headerCells = cells.length } = this.#rules;
    return cells.length > headerCells && cells.slice(headerCells).some((cell) => /^\d/.test(cell));
  }

  #notANumber(text: string): string {
    return this.#conventions.decimal === undefined && /\d,\d/.test(text)
      ? `${quote(text)} may be thousands or a decimal comma; use --decimal comma or point`
      : `${quote(text)} is not a number`;
  }
}

/** Derives the conventions that were not given from all rows of a file. */
export class ConventionsFinder {
  readonly #columns: ColumnIndexes;
  readonly #given: Partial<Conventions>;
  readonly #order = new DateOrderFinder();
  readonly #mark: DecimalMarkFinder;

  constructor(columns: ColumnIndexes, given: Partial<Conventions>, delimiter: string) {
    this.#columns = columns;
    this.#given = given;
    this.#mark = new DecimalMarkFinder(delimiter);
  }

  /** Whether a row is ambiguous. Most files have no such row and need only one pass. */
  needsAllRows({ cells }: TextRow): boolean {
    const { date, prices } = this.#columns;
    if (!this.#given.dateOrder && needsDateOrder(cells[date] ?? '')) return true;
    return !this.#given.decimal && prices.some((column) => needsDecimalMark(cells[column] ?? ''));
  }

  add({ cells }: TextRow): void {
    if (isFootnote(cells)) return;
    if (!this.#given.dateOrder) this.#order.add(cells[this.#columns.date] ?? '');
    if (this.#given.decimal) return;
    for (const column of this.#columns.prices) this.#mark.add(cells[column] ?? '');
  }

  get conventions(): Conventions {
    return {
      dateOrder: this.#given.dateOrder ?? this.#order.order,
      decimal: this.#given.decimal ?? this.#mark.mark,
    };
  }
}

const SHORT_YEAR = /^\d{1,2}([-/. ])(\d{1,2}|[a-z]{3,9})\1\d{2}$/i;
const DAY_NUMBER = /^\d{5}$/;

function notADate(text: string): string {
  const reason = `${quote(text)} is not a date`;
  if (SHORT_YEAR.test(text)) return `${reason}; the year must have four digits`;
  if (!DAY_NUMBER.test(text)) return reason;
  return `${reason}; if it is a day number of a spreadsheet, format its column as dates`;
}

function split(cells: number, headerCells: number): string {
  return `it has ${cells} cells, but the header has ${headerCells}: a number that contains the separator must be quoted`;
}

const PRICE_NAMES = ['open', 'high', 'low', 'close'];
const LIST = new Intl.ListFormat('en-GB');

function incomplete(prices: readonly unknown[]): string {
  const missing = PRICE_NAMES.filter((_, i) => prices[i] === 'missing');
  return `it has no ${LIST.format(missing)}; --value-column imports one price of each row`;
}

function refused(reason: string): RowResult {
  return { kind: 'refused', reason };
}
