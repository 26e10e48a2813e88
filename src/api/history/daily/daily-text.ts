import type { FrozenPrices } from '../../../board/views/prices.ts';
import type { DayRange } from '../../../ledger/prices/past.ts';
import type { Day } from '../../../market/day.ts';
import { shouldYield } from '../../../runtime/yield.ts';
import type { EncodedRows, RenderedTable } from '../../model/long-table.ts';
import type { RequestedSymbol } from '../../model/price-query.ts';
import type { TextFormat } from '../../model/table.ts';
import { type IntervalTableOptions, intervalColumns } from '../interval-table.ts';
import { ComputedLines } from './computed-lines.ts';
import { SettledTableLines } from './settled-table-lines.ts';
import type { TableLines } from './table-lines.ts';

/** Takes about 0.3 ms to fill. */
const PIECE_BYTES = 64 * 1024;
const NEVER: Day = Number.POSITIVE_INFINITY;

/**
 * Daily bars as text. Settled days are written straight from the columns of the history, which is several times as fast as
 * making cells of each row, and their text is cached by symbol. Other days and converted prices are written cell
 * by cell.
 */
export function dailyText(format: TextFormat, options: IntervalTableOptions<FrozenPrices>): RenderedTable {
  const linesOf = (requested: RequestedSymbol, symbolIndex: number) =>
    new SymbolLines(requested, symbolIndex, format, options);
  const { symbols } = options;
  if (symbols.length === 1) {
    return {
      pieces: () => pagesOf(linesOf(symbols[0]!, 0)),
      ready: () => linesOf(symbols[0]!, 0).takeReady(),
    };
  }
  return { pieces: () => mergedPieces(symbols.map(linesOf)), ready: () => undefined };
}

function* pagesOf(lines: TableLines): Generator<EncodedRows> {
  while (lines.nextDay !== NEVER) yield lines.takePage();
}

function* mergedPieces(lines: readonly TableLines[]): Generator<EncodedRows> {
  const merged = new MergedLines(lines);
  while (!merged.isOver) yield merged.takePiece();
}

/** The lines of several symbols, by day and then in the order of the symbols. */
class MergedLines {
  readonly #lines: readonly TableLines[];
  #day: Day;
  /** The symbol whose line of the day is next, if it has one. */
  #symbolIndex = 0;

  constructor(lines: readonly TableLines[]) {
    this.#lines = lines;
    this.#day = this.#nextDay();
  }

  get isOver(): boolean {
    return this.#day === NEVER;
  }

  /**
   * The next lines, as many as fit into a piece, but at least one. It ends early when its time is up: all symbols may need
   * their next page on the same day.
   */
  takePiece(): EncodedRows {
    const lines = this.#lines;
    let piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
    let length = 0;
    let rows = 0;
    for (; this.#day !== NEVER; this.#day = this.#nextDay()) {
      for (let i = this.#symbolIndex; i < lines.length; i++) {
        const own = lines[i]!;
        if (own.nextDay !== this.#day) continue;
        const isTimeUp = rows > 0 && !own.isRendered && shouldYield();
        const end = isTimeUp ? Number.POSITIVE_INFINITY : length + own.nextLength;
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
class SymbolLines implements TableLines {
  readonly #settled: SettledTableLines | undefined;
  /** Undefined if all days are settled. */
  readonly #computed: ComputedLines | undefined;
  #current: TableLines | undefined;
  nextDay: Day;

  constructor(
    requested: RequestedSymbol,
    symbolIndex: number,
    format: TextFormat,
    options: IntervalTableOptions<FrozenPrices>,
  ) {
    const { span, from } = options;
    // Symbols before the cursor's have had their line of its day.
    const start = symbolIndex < from.symbolIndex ? from.day + 1 : from.day;
    const days = { first: Math.max(span.first, start), last: span.last };
    const settledUntil = options.prices.settledHistory?.(requested.series)?.lastDay ?? days.first - 1;
    const settledLast = Math.min(days.last, settledUntil);
    if (settledLast >= days.first) {
      this.#settled = settledLines(requested, { first: days.first, last: settledLast }, format, options);
    }
    const rest = { first: Math.max(days.first, settledLast + 1), last: days.last };
    if (rest.first <= rest.last) this.#computed = new ComputedLines(requested, rest, format, options);
    this.#current = this.#settled ?? this.#computed;
    this.nextDay = this.#findNextDay();
  }

  get isRendered(): boolean {
    return this.#current!.isRendered;
  }

  get nextLength(): number {
    return this.#current!.nextLength;
  }

  takePage(): EncodedRows {
    const page = this.#current!.takePage();
    this.nextDay = this.#findNextDay();
    return page;
  }

  takeReady(): readonly EncodedRows[] | undefined {
    const settled = this.#settled ? this.#settled.takeReady() : [];
    const computed = this.#computed ? settled && this.#computed.takeReady() : [];
    this.nextDay = this.#findNextDay();
    return settled && computed && [...settled, ...computed];
  }

  write(to: Uint8Array, at: number): number {
    const end = this.#current!.write(to, at);
    this.nextDay = this.#findNextDay();
    return end;
  }

  #findNextDay(): Day {
    const day = this.#current?.nextDay ?? NEVER;
    if (day !== NEVER || this.#current === this.#computed) return day;
    this.#current = this.#computed;
    return this.#computed?.nextDay ?? NEVER;
  }
}

function settledLines(
  { code, series }: RequestedSymbol,
  { first, last }: DayRange,
  format: TextFormat,
  { board, prices, fields }: IntervalTableOptions<FrozenPrices>,
): SettledTableLines {
  const { bars } = prices.settledHistory!(series)!;
  const [from, to] = [bars.firstFrom(first), bars.firstFrom(last + 1)];
  const columns = intervalColumns(fields);
  return new SettledTableLines(bars, from, to, {
    board,
    format,
    columns,
    code,
    measure: prices.measure(series),
  });
}
