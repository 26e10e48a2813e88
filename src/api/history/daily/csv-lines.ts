import type { Board } from '../../../board/board.ts';
import type { FrozenBars } from '../../../board/series/frozen-bars.ts';
import type { Measure } from '../../../board/series/price-types.ts';
import type { Day } from '../../../market/day.ts';
import { csvText } from '../../model/table.ts';
import { measureCells, sourceNames } from '../../response/json.ts';
import { DAY_BYTES, NUMBER_BYTES_MAX, repeatBytes, writeBytes, writeDay, writeNumber } from './ascii.ts';

const COMMA = 0x2c;
const LINE_END = Buffer.from('\r\n');
/** The count of a daily bar. */
const SINGLE = Buffer.from(',1\r\n');
const NUMBERS_PER_LINE = 5;
const NEVER: Day = Number.POSITIVE_INFINITY;

export interface CsvLinesOptions {
  board: Board;
  code: string;
  measure: Measure;
  /** Whether lines end with the average and the count of their closes. */
  hasAverages: boolean;
}

/** The settled bars of one symbol as lines of CSV, in order. */
export class CsvLines {
  readonly #bars: FrozenBars;
  readonly #end: number;
  readonly #board: Board;
  readonly #hasAverages: boolean;
  /** What follows the date. */
  readonly #code: Uint8Array;
  /** What follows the prices, without the source. */
  readonly #measure: string;
  /** What follows the prices, for the source of the last line. */
  #suffix: Uint8Array = LINE_END;
  #sourceId = -1;
  #next: number;
  /** The day of the next line. */
  nextDay: Day;

  /** The lines of the bars at `from` ≤ i < `to`. */
  constructor(bars: FrozenBars, from: number, to: number, options: CsvLinesOptions) {
    const { board, code, measure, hasAverages } = options;
    this.#bars = bars;
    this.#next = from;
    this.#end = to;
    this.nextDay = from < to ? bars.day(from) : NEVER;
    this.#board = board;
    this.#hasAverages = hasAverages;
    this.#code = Buffer.from(`,${csvText(code)},`);
    const [unit, quote, factor] = measureCells(measure, undefined);
    this.#measure = `,${csvText(unit!)},${csvText(quote!)},${factor},`;
  }

  /** The most bytes that the next line takes. */
  get nextBytesMax(): number {
    this.#readSource();
    return DAY_BYTES + this.#code.length + NUMBERS_PER_LINE * NUMBER_BYTES_MAX + this.#suffix.length + 16;
  }

  /** Writes the next line. Returns where it ends. The average of a single close is the close. */
  write(to: Uint8Array, start: number): number {
    this.#readSource();
    const { prices } = this.#bars;
    const first = this.#next * 4;
    let at = writeDay(this.nextDay, to, start);
    at = writeBytes(this.#code, to, at);
    at = writeNumber(prices[first]!, to, at);
    to[at++] = COMMA;
    at = writeNumber(prices[first + 1]!, to, at);
    to[at++] = COMMA;
    at = writeNumber(prices[first + 2]!, to, at);
    to[at++] = COMMA;
    const closeStart = at;
    at = writeNumber(prices[first + 3]!, to, at);
    const closeEnd = at;
    at = writeBytes(this.#suffix, to, at);
    this.nextDay = ++this.#next < this.#end ? this.#bars.day(this.#next) : NEVER;
    if (!this.#hasAverages) return writeBytes(LINE_END, to, at);
    to[at++] = COMMA;
    at = repeatBytes(to, closeStart, closeEnd, at);
    return writeBytes(SINGLE, to, at);
  }

  #readSource(): void {
    const id = this.#bars.source(this.#next);
    if (id === this.#sourceId) return;
    this.#sourceId = id;
    this.#suffix = Buffer.from(this.#measure + csvText(sourceNames(this.#board, [id])));
  }
}
