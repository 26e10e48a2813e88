import type { FrozenPrices } from '../../../board/views/prices.ts';
import type { DayRange } from '../../../ledger/prices/past.ts';
import type { Day } from '../../../market/day.ts';
import type { EncodedRows } from '../../model/long-table.ts';
import type { RequestedSymbol } from '../../model/price-query.ts';
import { tableWriter } from '../../model/table.ts';
import { type IntervalRow, piecesOf, windowsFrom } from '../interval-rows.ts';
import { type IntervalTableOptions, intervalColumns, rowWriter } from '../interval-table.ts';
import type { CsvLines } from './csv-lines.ts';

/** All symbols of a request together read about this many bars at once, which takes half a millisecond. */
const BARS_PER_READ = 500;

/** Lines that are made cell by cell: of days that are not settled, converted prices and formulas. */
export class ComputedLines implements CsvLines {
  readonly #rows: Iterator<IntervalRow>;
  readonly #textOf: (row: IntervalRow) => string;
  #line: Uint8Array = new Uint8Array();
  nextDay: Day = Number.NEGATIVE_INFINITY;

  constructor(asked: RequestedSymbol, days: DayRange, options: IntervalTableOptions<FrozenPrices>) {
    const { board, prices, fields } = options;
    this.#rows = rowsOf(asked, days, options);
    const columns = intervalColumns(fields);
    const { body } = tableWriter('csv');
    const cells = rowWriter(board, [asked], prices, fields);
    this.#textOf = (row) => body(columns, [cells(row)]);
    this.#advance();
  }

  get nextLength(): number {
    return this.#line.length;
  }

  write(to: Uint8Array, at: number): number {
    to.set(this.#line, at);
    const end = at + this.#line.length;
    this.#advance();
    return end;
  }

  takePage(): EncodedRows {
    const bytes = this.#line;
    this.#advance();
    return { bytes, rows: 1 };
  }

  #advance(): void {
    const { done, value } = this.#rows.next();
    this.nextDay = done ? Number.POSITIVE_INFINITY : value.day;
    if (!done) this.#line = Buffer.from(this.#textOf(value));
  }
}

function* rowsOf(
  asked: RequestedSymbol,
  { first, last }: DayRange,
  { symbols, prices, span }: IntervalTableOptions<FrozenPrices>,
): Generator<IntervalRow> {
  const from = { day: first, symbolIndex: 0 };
  const own = { ...span, first, last };
  const barsPerRead = Math.ceil(BARS_PER_READ / symbols.length);
  for (const window of windowsFrom(from, [asked], prices, own, barsPerRead)) {
    for (const { rows } of piecesOf(window, from, [asked], prices, span.interval)) yield* rows;
  }
}
