import type { Board } from '../../board/board.ts';
import type { FrozenPrices, Prices } from '../../board/views/prices.ts';
import type { DayRange } from '../../ledger/prices/past.ts';
import { rowsBack } from '../../market/analytics/closes.ts';
import { EARLIEST_DAY } from '../../market/day.ts';
import { countIntervals, intervalStart, laterInterval } from '../../market/interval.ts';
import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import { freezeIfLarge, isLarge, stateOfBars } from '../model/large-answer.ts';
import type { LongTable, RenderedTable } from '../model/long-table.ts';
import { hasFormulas, type RequestedSymbol } from '../model/price-query.ts';
import { columnsOf, type FlatColumn, type FlatRow, type FlatTable, type TextFormat } from '../model/table.ts';
import type { Cursor } from '../params/cursor.ts';
import { measureCells, ohlcCells, sourceNames } from '../response/json.ts';
import { intervalPieces } from './interval-pieces.ts';
import { type IntervalRow, printStart, type Span } from './interval-rows.ts';
import { type RowFields, typeOfField } from './row-fields.ts';

const BAR_COLUMNS = columnsOf(
  'date:date symbol open:number high:number low:number close:number unit quote factor:number source',
);

/** The columns of /rates/history and /rates/time-series. */
export function intervalColumns({ names }: RowFields): FlatColumn[] {
  return [...BAR_COLUMNS, ...names.map((name) => ({ name, type: typeOfField(name) }))];
}

/** The clock is read after counting the rows of this many symbols. */
const SYMBOLS_PER_TIME_CHECK = 16;

export interface IntervalTableOptions<P extends Prices = Prices> {
  board: Board;
  symbols: readonly RequestedSymbol[];
  prices: P;
  span: Span;
  from: Cursor;
  fields: RowFields;
  unitsOf: (rows: number) => number;
  /** Renders the rows faster than cell by cell. Only for days from which nothing is derived. */
  render?: ((format: TextFormat, options: IntervalTableOptions<FrozenPrices>) => RenderedTable) | undefined;
}

/** All rows of a span starting at a cursor. Throws a refusal if one of them cannot be converted. */
export function intervalTable(options: IntervalTableOptions): FlatTable | LongTable {
  const { symbols, prices, span, from } = options;
  const frozen = freezeIfLong(symbols, prices, span, from);
  if (frozen) return longTable({ ...options, prices: frozen });
  return { columns: intervalColumns(options.fields), rows: [...rowPieces(options)].flat() };
}

/** A snapshot of the prices if writing the rows, or looking for the closes before them, may take long. */
export function freezeIfLong(
  symbols: readonly RequestedSymbol[],
  prices: Prices,
  span: Span,
  from: Cursor,
): FrozenPrices | undefined {
  if (looksFar(symbols, span)) return prices.freeze?.(symbols.map(({ series }) => series));
  return freezeIfLarge(symbols, Math.max(span.first, from.day), span.last, prices);
}

/**
 * Whether many bars may be read for a few rows: those that a change or a moving average goes back to or, as a formula can have its
 * last value long before them, those of decades.
 */
export function looksFar(
  symbols: readonly RequestedSymbol[],
  { derivation }: Pick<Span, 'derivation'>,
): boolean {
  if (!derivation) return false;
  return hasFormulas(symbols) || isLarge(symbols, symbols.length * rowsBack(derivation));
}

function longTable(options: IntervalTableOptions<FrozenPrices>): LongTable {
  const { symbols, prices, span, from, fields, unitsOf, render } = options;
  requireConvertible(symbols, prices, span, from);
  return {
    columns: intervalColumns(fields),
    state: stateOf(options),
    count: () => countRows(options),
    mayHaveFewer: hasFormulas(symbols),
    pieces: () => rowPieces(options),
    ...(render && { rendered: (format) => render(format, options) }),
    unitsOf,
  };
}

function* rowPieces(options: IntervalTableOptions): Generator<FlatRow[]> {
  const { board, symbols, prices, span, from, fields } = options;
  const cells = rowWriter(board, symbols, prices, fields);
  for (const { rows } of intervalPieces(from, symbols, prices, span)) yield rows.map(cells);
}

/** Returns a function that turns rows into cells. */
export function rowWriter(
  board: Board,
  symbols: readonly RequestedSymbol[],
  prices: Prices,
  fields: RowFields,
): (row: IntervalRow) => FlatRow {
  const measures = symbols.map(({ series }) => prices.measure(series));
  return (row) => {
    const { symbolIndex } = row;
    const measure = measureCells(measures[symbolIndex]!, row.factor);
    const source = sourceNames(board, row.sourceIds);
    const bar = [printStart(row), symbols[symbolIndex]!.code, ...ohlcCells(row), ...measure, source];
    return [...bar, ...fields.values(row)];
  };
}

/** Identifies the rows. */
export function stateOf({
  symbols,
  prices,
  span,
  from,
  fields,
}: Omit<IntervalTableOptions<FrozenPrices>, 'unitsOf'>): string {
  const { first, interval, derivation } = span;
  const { day, symbolIndex } = from;
  const bars = stateOfBars(symbols, prices, daysRead(span, from));
  return JSON.stringify([first, interval, derivation ?? null, day, symbolIndex, fields.names, bars]);
}

/** Throws a refusal if a row from a cursor on cannot be converted. An index also needs the first row. */
export function requireConvertible(
  symbols: readonly RequestedSymbol[],
  prices: FrozenPrices,
  { first, last, derivation }: Span,
  from: Cursor,
): void {
  const start = derivation ? first : Math.max(first, from.day);
  for (const { series } of symbols) prices.requireComplete(series, start, last);
}

/** The days that the rows from a cursor on depend on. What is derived from closes depends on earlier days, too. */
export function daysRead({ first, last, derivation }: Span, from: Cursor): DayRange {
  return { first: derivation ? EARLIEST_DAY : Math.max(first, from.day), last };
}

/** Counts the rows without folding any bars. */
async function countRows(options: IntervalTableOptions<FrozenPrices>): Promise<number> {
  let rows = 0;
  for (let symbolIndex = 0; symbolIndex < options.symbols.length; symbolIndex++) {
    // Counting the rows of a symbol takes microseconds.
    if (symbolIndex % SYMBOLS_PER_TIME_CHECK === SYMBOLS_PER_TIME_CHECK - 1 && shouldYield()) {
      await yieldToRequests();
    }
    rows += rowsAt(symbolIndex, options);
  }
  return rows;
}

/** The number of rows of one symbol. A symbol before the cursor has already had its row of the cursor's interval. */
function rowsAt(
  symbolIndex: number,
  { symbols, prices, span, from }: IntervalTableOptions<FrozenPrices>,
): number {
  const { series } = symbols[symbolIndex]!;
  const { first, last, interval } = span;
  const rows = countIntervals(prices.days(series, Math.max(first, from.day), last), interval);
  const isSkipped =
    symbolIndex < from.symbolIndex && prices.days(series, ...intervalOf(span, from)).length > 0;
  return isSkipped ? rows - 1 : rows;
}

function intervalOf({ first, last, interval }: Span, { day }: Cursor): [number, number] {
  const end = laterInterval(interval, day, 1) - 1;
  return [Math.max(first, intervalStart(interval, day)), Math.min(last, end)];
}
