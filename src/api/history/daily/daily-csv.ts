import type { FrozenPrices } from '../../../board/views/prices.ts';
import type { Day } from '../../../market/day.ts';
import type { EncodedRows } from '../../model/long-table.ts';
import type { RequestedSymbol } from '../../model/price-query.ts';
import type { IntervalTableOptions } from '../interval-table.ts';
import { AVERAGES } from '../row-fields.ts';
import { ComputedLines } from './computed-lines.ts';
import type { CsvLines } from './csv-lines.ts';
import { SettledCsvLines } from './settled-csv-lines.ts';

/** Takes about 0.3 ms to fill. */
const PIECE_BYTES = 64 * 1024;
const NEVER: Day = Number.POSITIVE_INFINITY;

/**
 * Daily bars as CSV. Settled days are written straight from the columns of the history, which is several times as fast as
 * making cells of each row. Other days, converted prices and formulas are written cell by cell.
 */
export function* dailyCsv(options: IntervalTableOptions<FrozenPrices>): Generator<EncodedRows> {
  const lines = options.symbols.map((asked, symbolIndex) => new SymbolLines(asked, symbolIndex, options));
  if (lines.length === 1) {
    while (lines[0]!.nextDay !== NEVER) yield lines[0]!.takePage();
    return;
  }
  const merged = new MergedLines(lines);
  while (!merged.isOver) yield merged.takePiece();
}

/** The lines of several symbols, by day and then in the order of the symbols. */
class MergedLines {
  readonly #lines: readonly CsvLines[];
  #day: Day;
  /** The symbol whose line of the day is next, if it has one. */
  #symbolIndex = 0;

  constructor(lines: readonly CsvLines[]) {
    this.#lines = lines;
    this.#day = this.#nextDay();
  }

  get isOver(): boolean {
    return this.#day === NEVER;
  }

  /** The next lines, as many as fit into a piece, but at least one. */
  takePiece(): EncodedRows {
    const lines = this.#lines;
    let piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
    let length = 0;
    let rows = 0;
    for (; this.#day !== NEVER; this.#day = this.#nextDay()) {
      for (let i = this.#symbolIndex; i < lines.length; i++) {
        const own = lines[i]!;
        if (own.nextDay !== this.#day) continue;
        const end = length + own.nextLength;
        if (end > piece.length && rows > 0) {
          this.#symbolIndex = i;
          return { bytes: piece.subarray(0, length), rows };
        }
        if (end > piece.length) piece = Buffer.allocUnsafeSlow(end);
        length = own.write(piece, length);
        rows++;
      }
      this.#symbolIndex = 0;
    }
    return { bytes: piece.subarray(0, length), rows };
  }

  #nextDay(): Day {
    const lines = this.#lines;
    let day = NEVER;
    for (let i = 0; i < lines.length; i++) if (lines[i]!.nextDay < day) day = lines[i]!.nextDay;
    return day;
  }
}

/** The lines of one symbol: of its settled days, and then of the others. */
class SymbolLines implements CsvLines {
  readonly #settled: SettledCsvLines | undefined;
  readonly #computed: ComputedLines;
  #current: CsvLines;
  nextDay: Day;

  constructor(asked: RequestedSymbol, symbolIndex: number, options: IntervalTableOptions<FrozenPrices>) {
    const { span, from } = options;
    // Symbols before the cursor's have had their line of its day.
    const start = symbolIndex < from.symbolIndex ? from.day + 1 : from.day;
    const days = { first: Math.max(span.first, start), last: span.last };
    const settledUntil = options.prices.settledHistory?.(asked.series)?.lastDay ?? days.first - 1;
    const settledLast = Math.min(days.last, settledUntil);
    if (settledLast >= days.first) {
      this.#settled = settledLines(asked, days.first, settledLast, options);
    }
    const rest = { first: Math.max(days.first, settledLast + 1), last: days.last };
    this.#computed = new ComputedLines(asked, rest, options);
    this.#current = this.#settled ?? this.#computed;
    this.nextDay = this.#findNextDay();
  }

  get nextLength(): number {
    return this.#current.nextLength;
  }

  takePage(): EncodedRows {
    const page = this.#current.takePage();
    this.nextDay = this.#findNextDay();
    return page;
  }

  write(to: Uint8Array, at: number): number {
    const end = this.#current.write(to, at);
    this.nextDay = this.#findNextDay();
    return end;
  }

  #findNextDay(): Day {
    const { nextDay } = this.#current;
    if (nextDay !== NEVER || this.#current === this.#computed) return nextDay;
    this.#current = this.#computed;
    return this.#computed.nextDay;
  }
}

function settledLines(
  { code, series }: RequestedSymbol,
  first: Day,
  last: Day,
  { board, prices, fields }: IntervalTableOptions<FrozenPrices>,
): SettledCsvLines {
  const { bars } = prices.settledHistory!(series)!;
  const [from, to] = [bars.firstFrom(first), bars.firstFrom(last + 1)];
  const measure = prices.measure(series);
  return new SettledCsvLines(bars, from, to, { board, code, measure, hasAverages: fields === AVERAGES });
}
