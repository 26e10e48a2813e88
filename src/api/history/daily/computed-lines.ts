import type { FrozenPrices } from '../../../board/views/prices.ts';
import type { DayRange } from '../../../ledger/prices/past.ts';
import type { Day } from '../../../market/day.ts';
import type { EncodedRows } from '../../model/long-table.ts';
import type { RequestedSymbol } from '../../model/price-query.ts';
import { type TextFormat, tableWriter } from '../../model/table.ts';
import { type IntervalRow, piecesOf, windowsFrom } from '../interval-rows.ts';
import { type IntervalTableOptions, intervalColumns, rowWriter } from '../interval-table.ts';
import type { TableLines } from './table-lines.ts';

/** All symbols of a request together read about this many bars at once, which takes half a millisecond. */
const BARS_PER_READ = 500;

/** Lines that are made cell by cell: of days that are not settled, and of converted prices. */
export class ComputedLines implements TableLines {
  readonly #dayCount: () => number;
  readonly #pieces: Iterator<readonly IntervalRow[]>;
  readonly #textOf: (rows: readonly IntervalRow[]) => string;
  #rows: readonly IntervalRow[] = [];
  /** The index of the next row. */
  #next = 0;
  /** The text of the next row, once it is needed. */
  #line: Uint8Array | undefined;
  nextDay: Day = Number.NEGATIVE_INFINITY;

  constructor(
    requested: RequestedSymbol,
    days: DayRange,
    format: TextFormat,
    options: IntervalTableOptions<FrozenPrices>,
  ) {
    const { board, prices, fields } = options;
    this.#dayCount = () => prices.days(requested.series, days.first, days.last).length;
    this.#pieces = rowsOf(requested, days, options);
    const columns = intervalColumns(fields);
    const { body } = tableWriter(format);
    const cells = rowWriter(board, [requested], prices, fields);
    this.#textOf = (rows) => body(columns, rows.map(cells));
    this.#requireRow();
  }

  get isRendered(): boolean {
    return this.#line !== undefined;
  }

  get nextLength(): number {
    return this.#nextLine().length;
  }

  write(to: Uint8Array, at: number): number {
    const line = this.#nextLine();
    to.set(line, at);
    this.#next++;
    this.#requireRow();
    return at + line.length;
  }

  takePage(): EncodedRows {
    const rows = this.#rows.slice(this.#next);
    this.#next = this.#rows.length;
    this.#requireRow();
    return { bytes: Buffer.from(this.#textOf(rows)), rows: rows.length };
  }

  /** A few days are rendered at once. */
  takeReady(): readonly EncodedRows[] | undefined {
    if (this.#dayCount() > BARS_PER_READ) return undefined;
    const pages: EncodedRows[] = [];
    while (this.nextDay !== Number.POSITIVE_INFINITY) pages.push(this.takePage());
    return pages;
  }

  #nextLine(): Uint8Array {
    this.#line ??= Buffer.from(this.#textOf([this.#rows[this.#next]!]));
    return this.#line;
  }

  #requireRow(): void {
    this.#line = undefined;
    while (this.#next === this.#rows.length) {
      const { done, value } = this.#pieces.next();
      if (done) {
        this.nextDay = Number.POSITIVE_INFINITY;
        return;
      }
      this.#rows = value;
      this.#next = 0;
    }
    this.nextDay = this.#rows[this.#next]!.day;
  }
}

function* rowsOf(
  requested: RequestedSymbol,
  { first, last }: DayRange,
  { symbols, prices, span }: IntervalTableOptions<FrozenPrices>,
): Generator<readonly IntervalRow[]> {
  const from = { day: first, symbolIndex: 0 };
  const own = { ...span, first, last };
  const barsPerRead = Math.ceil(BARS_PER_READ / symbols.length);
  for (const window of windowsFrom(from, [requested], prices, own, barsPerRead)) {
    for (const { rows } of piecesOf(window, from, [requested], prices, span.interval)) yield rows;
  }
}
