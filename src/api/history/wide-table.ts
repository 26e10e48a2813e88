import type { FrozenPrices } from '../../board/views/prices.ts';
import type { Day } from '../../market/day.ts';
import { printNumber } from '../../market/decimal.ts';
import { countIntervals } from '../../market/interval.ts';
import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import { asLongTable, type LongTable, ROWS_PER_UNIT, unitsByRows } from '../model/long-table.ts';
import { hasFormulas, type RequestedSymbol } from '../model/price-query.ts';
import type { FlatColumn, FlatRow, FlatTable } from '../model/table.ts';
import { intervalPieces } from './interval-pieces.ts';
import { type IntervalRow, printStart } from './interval-rows.ts';
import { freezeIfLong, type IntervalTableOptions, requireConvertible, stateOf } from './interval-table.ts';
import { type RowFields, typeOfField } from './row-fields.ts';

/** The prices of a bar, which every row has. */
export const BAR_FIELDS = ['open', 'high', 'low', 'close'] as const;

export interface WideTableOptions extends Omit<IntervalTableOptions, 'unitsOf'> {
  /** The field in the cells: a price, or one of `fields`. */
  field: string;
}

/**
 * One row per date and one column per symbol. A cell without a value is empty. Each cell, empty or not, costs as much as a
 * row of the long layout.
 */
export function wideTable(options: WideTableOptions): FlatTable | LongTable {
  const { symbols, prices, span, from } = options;
  const frozen = freezeIfLong(symbols, prices, span, from);
  if (!frozen) {
    const table = wideRows([...widePieces(options)].flat(), symbols, options.field);
    const cells = table.rows.length * symbols.length;
    return cells > ROWS_PER_UNIT ? asLongTable(table) : table; // few bars can have many empty cells beside them
  }
  const snapshot = { ...options, prices: frozen };
  requireConvertible(symbols, frozen, span, from);
  return {
    columns: wideColumns(symbols, options.field),
    state: JSON.stringify(['wide', options.field, stateOf(snapshot)]),
    count: () => countDates(snapshot),
    mayHaveFewer: hasFormulas(symbols),
    pieces: () => widePieces(snapshot),
    unitsOf: (rows) => unitsByRows(rows * symbols.length),
  };
}

/** The rows of a page, which ends with a whole date. */
export function widePage(
  rows: readonly IntervalRow[],
  symbols: readonly RequestedSymbol[],
  fields: RowFields,
  field: string,
): FlatTable {
  const pivot = new Pivot(symbols.length, fields, field);
  return wideRows([...pivot.add(rows), ...pivot.end()], symbols, field);
}

function wideRows(rows: readonly FlatRow[], symbols: readonly RequestedSymbol[], field: string): FlatTable {
  return { columns: wideColumns(symbols, field), rows, rowWeight: symbols.length };
}

export function wideColumns(symbols: readonly RequestedSymbol[], field: string): FlatColumn[] {
  return [
    { name: 'date', type: 'date' },
    ...symbols.map(({ code }) => ({ name: code, type: typeOfField(field) })),
  ];
}

function* widePieces({ symbols, prices, span, from, fields, field }: WideTableOptions): Generator<FlatRow[]> {
  const pivot = new Pivot(symbols.length, fields, field);
  for (const { rows } of intervalPieces(from, symbols, prices, span)) yield pivot.add(rows);
  yield pivot.end();
}

/** Turns rows, which come in order of their dates, into one row per date. */
export class Pivot {
  readonly #width: number;
  readonly #read: (row: IntervalRow) => string | undefined;
  /** The day of the current row, or the start of its interval if that is shorter than a day. */
  #start: number | undefined;
  #cells: (string | undefined)[] = [];

  /** `field` is a price, or one of `fields`. */
  constructor(symbolCount: number, fields: RowFields, field: string) {
    this.#width = symbolCount + 1;
    this.#read = valueReader(fields, field);
  }

  /** Adds rows, and returns the dates before the last of them. */
  add(rows: readonly IntervalRow[]): FlatRow[] {
    const dates: FlatRow[] = [];
    for (const row of rows) {
      const start = row.at ?? row.day;
      if (start !== this.#start) {
        dates.push(...this.end());
        this.#start = start;
        this.#cells = new Array<string | undefined>(this.#width).fill(undefined);
        this.#cells[0] = printStart(row);
      }
      this.#cells[row.symbolIndex + 1] = this.#read(row);
    }
    return dates;
  }

  /** The last date, if there is one. */
  end(): FlatRow[] {
    if (this.#start === undefined) return [];
    this.#start = undefined;
    return [this.#cells];
  }
}

function valueReader({ names, values }: RowFields, field: string): (row: IntervalRow) => string | undefined {
  const price = BAR_FIELDS.find((name) => name === field);
  if (price) return (row) => printNumber(row[price]);
  const index = names.indexOf(field);
  return (row) => values(row)[index];
}

/** Counts the dates on which any symbol has a row, without folding bars. */
async function countDates({
  symbols,
  prices,
  span,
  from,
}: WideTableOptions & { prices: FrozenPrices }): Promise<number> {
  const { last, interval } = span;
  const first = Math.max(span.first, from.day);
  const hasRow = new Uint8Array(Math.max(0, last - first + 1)); // by day from `first` on; a set takes many times as long
  for (const { series } of symbols) {
    if (shouldYield()) await yieldToRequests();
    const days = prices.days(series, first, last);
    for (let i = 0; i < days.length; i++) hasRow[days[i]! - first] = 1;
  }
  const days: Day[] = [];
  for (const [i, one] of hasRow.entries()) if (one) days.push(first + i);
  return countIntervals(Int32Array.from(days), interval);
}
