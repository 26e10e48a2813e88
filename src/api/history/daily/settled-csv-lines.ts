import type { Board } from '../../../board/board.ts';
import type { FrozenBars } from '../../../board/series/frozen-bars.ts';
import type { Measure } from '../../../board/series/price-types.ts';
import type { Day } from '../../../market/day.ts';
import type { EncodedRows } from '../../model/long-table.ts';
import { csvText } from '../../model/table.ts';
import { measureCells, sourceNames } from '../../response/json.ts';
import { DAY_BYTES, NUMBER_BYTES_MAX, repeatBytes, writeBytes, writeDay, writeNumber } from './ascii.ts';
import type { CsvLines } from './csv-lines.ts';

const COMMA = 0x2c;
const LINE_END = Buffer.from('\r\n');
/** The count of a daily bar. */
const SINGLE = Buffer.from(',1\r\n');
const NUMBERS_PER_LINE = 5;
const SEPARATORS = 16;
const NEVER: Day = Number.POSITIVE_INFINITY;
/** Bars that are rendered at once, in about 0.1 ms. */
const BARS_PER_PAGE = 512;
/** A page is rendered into memory for lines of this length, and into more if they turn out to be longer. */
const LINE_BYTES_USUAL = 96;

export interface SettledCsvOptions {
  board: Board;
  code: string;
  measure: Measure;
  /** Whether lines end with the average and the count of their closes. */
  hasAverages: boolean;
}

/** Lines of settled bars. They are rendered in pages, straight from the columns of the history. */
export class SettledCsvLines implements CsvLines {
  readonly #bars: FrozenBars;
  readonly #end: number;
  readonly #options: SettledCsvOptions;
  readonly #bytesMax: number;
  /** What follows the date. */
  readonly #code: Uint8Array;
  /** What follows the prices, by source. */
  readonly #suffixes = new Map<number, Uint8Array>();
  /** The bars from `#pageStart` to `#pageEnd`, and where the line of each ends. */
  #page: Uint8Array = Buffer.alloc(0);
  readonly #lineEnds = new Uint32Array(BARS_PER_PAGE);
  #pageStart: number;
  #pageEnd: number;
  #next: number;
  nextDay: Day;

  /** The lines of the bars at `from` ≤ i < `to`. */
  constructor(bars: FrozenBars, from: number, to: number, options: SettledCsvOptions) {
    this.#bars = bars;
    this.#end = to;
    this.#options = options;
    this.#code = Buffer.from(`,${csvText(options.code)},`);
    const suffixBytesMax = Math.max(0, ...bars.sourcesIn(from, to).map((id) => this.#addSuffix(id)));
    const texts = DAY_BYTES + this.#code.length + suffixBytesMax;
    this.#bytesMax = texts + NUMBERS_PER_LINE * NUMBER_BYTES_MAX + SEPARATORS;
    this.#next = from;
    this.#pageStart = from;
    this.#pageEnd = from;
    this.nextDay = from < to ? bars.day(from) : NEVER;
  }

  get nextLength(): number {
    this.#requirePage();
    return this.#lineEnds[this.#next - this.#pageStart]! - this.#lineStart;
  }

  write(to: Uint8Array, at: number): number {
    this.#requirePage();
    const start = this.#lineStart;
    const end = this.#lineEnds[this.#next - this.#pageStart]!;
    this.#advanceTo(this.#next + 1);
    const page = this.#page;
    for (let i = start; i < end; i++) to[at + i - start] = page[i]!;
    return at + end - start;
  }

  takePage(): EncodedRows {
    this.#requirePage();
    const rows = this.#pageEnd - this.#next;
    const bytes = this.#page.subarray(this.#lineStart, this.#lineEnds[this.#pageEnd - this.#pageStart - 1]);
    this.#advanceTo(this.#pageEnd);
    return { bytes, rows };
  }

  get #lineStart(): number {
    return this.#next === this.#pageStart ? 0 : this.#lineEnds[this.#next - this.#pageStart - 1]!;
  }

  #advanceTo(index: number): void {
    this.#next = index;
    this.nextDay = index < this.#end ? this.#bars.day(index) : NEVER;
  }

  #requirePage(): void {
    if (this.#next < this.#pageEnd) return;
    this.#pageStart = this.#next;
    this.#pageEnd = Math.min(this.#next + BARS_PER_PAGE, this.#end);
    const rows = this.#pageEnd - this.#pageStart;
    this.#page = this.#render(rows * LINE_BYTES_USUAL + this.#bytesMax);
  }

  /** Renders the bars of the page into this many bytes, or more if necessary. The loop is hot: it uses local variables only. */
  #render(capacity: number): Uint8Array {
    const page = Buffer.allocUnsafeSlow(capacity);
    const [code, lineEnds, suffixes, bytesMax] = [this.#code, this.#lineEnds, this.#suffixes, this.#bytesMax];
    const { days, prices, sources } = this.#bars.arrays;
    const { hasAverages } = this.#options;
    let sourceId = Number.NaN;
    let suffix: Uint8Array = LINE_END;
    let at = 0;
    for (let i = this.#pageStart; i < this.#pageEnd; i++) {
      if (at + bytesMax > capacity) return this.#render(capacity + (this.#pageEnd - i) * bytesMax);
      if (sources[i] !== sourceId) {
        sourceId = sources[i]!;
        suffix = suffixes.get(sourceId)!;
      }
      at = writeDay(days[i]!, page, at);
      at = writeBytes(code, page, at);
      at = writeNumber(prices[4 * i]!, page, at);
      page[at++] = COMMA;
      at = writeNumber(prices[4 * i + 1]!, page, at);
      page[at++] = COMMA;
      at = writeNumber(prices[4 * i + 2]!, page, at);
      page[at++] = COMMA;
      const close = at;
      at = writeNumber(prices[4 * i + 3]!, page, at);
      const closeEnd = at;
      at = writeBytes(suffix, page, at);
      if (hasAverages) {
        page[at++] = COMMA;
        at = repeatBytes(page, close, closeEnd, at); // the average of a single close is the close
      }
      at = writeBytes(hasAverages ? SINGLE : LINE_END, page, at);
      lineEnds[i - this.#pageStart] = at;
    }
    return page;
  }

  /** Returns the length of what follows the prices of this source. */
  #addSuffix(sourceId: number): number {
    const { board, measure } = this.#options;
    const [unit, quote, factor] = measureCells(measure, undefined);
    const source = csvText(sourceNames(board, [sourceId]));
    const suffix = Buffer.from(`,${csvText(unit!)},${csvText(quote!)},${factor},${source}`);
    this.#suffixes.set(sourceId, suffix);
    return suffix.length;
  }
}
