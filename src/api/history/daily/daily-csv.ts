import type { FrozenPrices } from '../../../board/views/prices.ts';
import type { Day } from '../../../market/day.ts';
import type { EncodedRows } from '../../model/long-table.ts';
import { tableWriter } from '../../model/table.ts';
import { intervalPieces } from '../interval-pieces.ts';
import type { Span } from '../interval-rows.ts';
import { type IntervalTableOptions, intervalColumns, rowWriter } from '../interval-table.ts';
import { AVERAGES } from '../row-fields.ts';
import { CsvLines } from './csv-lines.ts';

/** Takes about 0.2 ms to fill. */
const PIECE_BYTES = 64 * 1024;

/**
 * Daily bars as CSV. Settled days are written straight from the columns of the history, which is fifteen times as fast as
 * making cells of each row:
 *
 *     the cursor's day │ settled days …………………… │ days that some symbol has not settled
 *       cell by cell   │ from the columns      │ cell by cell
 */
export function* dailyCsv(options: IntervalTableOptions<FrozenPrices>): Generator<EncodedRows> {
  const { span, from } = options;
  // The cursor may stand between the symbols of its own day.
  const isBetweenSymbols = from.symbolIndex > 0;
  if (isBetweenSymbols) yield* cellByCell(options, { ...span, last: Math.min(span.last, from.day) });
  const first = Math.max(span.first, isBetweenSymbols ? from.day + 1 : from.day);
  const last = Math.min(span.last, lastSettledDay(options));
  yield* settledDays(options, first, last);
  const rest = Math.max(first, last + 1);
  if (rest > span.last) return;
  yield* cellByCell({ ...options, from: { day: rest, symbolIndex: 0 } }, span);
}

/** The last day up to which all bars are settled; −Infinity if some of them are not plain prices from a history. */
function lastSettledDay({ symbols, prices }: IntervalTableOptions<FrozenPrices>): Day {
  let last = Number.POSITIVE_INFINITY;
  for (const { series } of symbols) {
    const settled = prices.settledHistory?.(series);
    last = Math.min(last, settled ? settled.lastDay : Number.NEGATIVE_INFINITY);
  }
  return last;
}

function* settledDays(
  options: IntervalTableOptions<FrozenPrices>,
  first: Day,
  last: Day,
): Generator<EncodedRows> {
  if (first > last) return;
  const lines = linesOf(options, first, last);
  let piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
  let length = 0;
  let rows = 0;
  for (;;) {
    const day = nextDayOf(lines);
    if (day > last) break;
    for (const own of lines) {
      if (own.nextDay !== day) continue;
      if (length + own.nextBytesMax > piece.length) {
        yield { bytes: piece.subarray(0, length), rows };
        piece = Buffer.allocUnsafeSlow(Math.max(PIECE_BYTES, own.nextBytesMax));
        length = 0;
        rows = 0;
      }
      length = own.write(piece, length);
      rows++;
    }
  }
  if (rows > 0) yield { bytes: piece.subarray(0, length), rows };
}

function linesOf(
  { board, symbols, prices, fields }: IntervalTableOptions<FrozenPrices>,
  first: Day,
  last: Day,
): CsvLines[] {
  return symbols.map(({ code, series }) => {
    const { bars } = prices.settledHistory!(series)!;
    const options = { board, code, measure: prices.measure(series), hasAverages: fields === AVERAGES };
    return new CsvLines(bars, bars.firstFrom(first), bars.firstFrom(last + 1), options);
  });
}

function nextDayOf(lines: readonly CsvLines[]): Day {
  let day = Number.POSITIVE_INFINITY;
  for (const { nextDay } of lines) if (nextDay < day) day = nextDay;
  return day;
}

function* cellByCell(options: IntervalTableOptions<FrozenPrices>, span: Span): Generator<EncodedRows> {
  const { board, symbols, prices, from, fields } = options;
  const { body } = tableWriter('csv');
  const columns = intervalColumns(fields);
  const cells = rowWriter(board, symbols, prices, fields);
  for (const { rows } of intervalPieces(from, symbols, prices, span)) {
    yield { bytes: Buffer.from(body(columns, rows.map(cells))), rows: rows.length };
  }
}
