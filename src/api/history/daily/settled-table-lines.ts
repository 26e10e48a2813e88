import type { Board } from '../../../board/board.ts';
import { type FrozenBars, TABLE_BARS_PER_PAGE } from '../../../board/series/bars/frozen-bars.ts';
import type { Measure } from '../../../board/series/price-types.ts';
import type { Day } from '../../../market/day.ts';
import type { TextPage, TextPages } from '../../../runtime/text-pages.ts';
import type { EncodedRows } from '../../model/long-table.ts';
import type { FlatColumn, TextFormat } from '../../model/table.ts';
import { measureCells, sourceNames } from '../../response/json.ts';
import { DAY_BYTES, NUMBER_BYTES_MAX, repeatBytes, writeBytes, writeDay, writeNumber } from './ascii.ts';
import { constantBytes, type LineTemplate, lineTemplate } from './line-template.ts';
import type { TableLines } from './table-lines.ts';

const NUMBERS_PER_LINE = 5;
const NEVER: Day = Number.POSITIVE_INFINITY;

/** Pages are rendered here, and copied once their length is known. It grows when necessary. */
let scratch = Buffer.allocUnsafeSlow(256 * 1024);

export interface SettledLinesOptions {
  board: Board;
  format: TextFormat;
  columns: readonly FlatColumn[];
  code: string;
  measure: Measure;
}

/** Lines of settled bars. They are rendered in pages, straight from the columns of the history, and the pages are cached. */
export class SettledTableLines implements TableLines {
  readonly #bars: FrozenBars;
  readonly #end: number;
  readonly #options: SettledLinesOptions;
  readonly #texts: TextPages<object>;
  #next: number;
  nextDay: Day;
  /** The page of the next line, once it is needed. */
  #page: TextPage | undefined;
  #pageStart = 0;

  /** The lines of the bars at `from` ≤ i < `to`. */
  constructor(bars: FrozenBars, from: number, to: number, options: SettledLinesOptions) {
    this.#bars = bars;
    this.#end = to;
    this.#options = options;
    this.#texts = bars.texts(keyOf(options));
    this.#next = from;
    this.nextDay = from < to ? bars.day(from) : NEVER;
  }

  get isRendered(): boolean {
    return this.#page !== undefined && this.#next - this.#pageStart < TABLE_BARS_PER_PAGE;
  }

  get nextLength(): number {
    const { starts } = this.#requirePage();
    const place = this.#next - this.#pageStart;
    return starts[place + 1]! - starts[place]!;
  }

  write(to: Uint8Array, at: number): number {
    const { bytes, starts } = this.#requirePage();
    const place = this.#next - this.#pageStart;
    const [start, end] = [starts[place]!, starts[place + 1]!];
    this.#advanceTo(this.#next + 1);
    (bytes as Buffer).copy(to, at, start, end); // a loop takes longer even for a short line
    return at + end - start;
  }

  takePage(): EncodedRows {
    const { bytes, starts } = this.#requirePage();
    const from = this.#next - this.#pageStart;
    const to = Math.min(this.#pageStart + TABLE_BARS_PER_PAGE, this.#end) - this.#pageStart;
    this.#advanceTo(this.#pageStart + to);
    const isWhole = from === 0 && starts[to] === bytes.length;
    return { bytes: isWhole ? bytes : bytes.subarray(starts[from], starts[to]), rows: to - from };
  }

  takeReady(): readonly EncodedRows[] | undefined {
    if (!this.#texts.hasRows(this.#next, this.#end - 1)) return undefined;
    const pages: EncodedRows[] = [];
    while (this.#next < this.#end) pages.push(this.takePage());
    return pages;
  }

  #advanceTo(index: number): void {
    this.#next = index;
    this.nextDay = index < this.#end ? this.#bars.day(index) : NEVER;
  }

  #requirePage(): TextPage {
    if (this.isRendered) return this.#page!;
    this.#pageStart = this.#next - (this.#next % TABLE_BARS_PER_PAGE);
    const last = Math.min(this.#pageStart + TABLE_BARS_PER_PAGE, this.#end) - 1;
    this.#page = this.#texts.pageWith(last, (number) => this.#render(number));
    return this.#page;
  }

  #render(number: number): TextPage {
    const from = number * TABLE_BARS_PER_PAGE;
    const to = Math.min(from + TABLE_BARS_PER_PAGE, this.#bars.length);
    const templates = new Map(this.#bars.sourcesIn(from, to).map((id) => [id, this.#templateOf(id)]));
    const starts = new Uint32Array(to - from + 1);
    const length = renderLines(this.#bars, from, templates, starts);
    return { bytes: Buffer.from(scratch.subarray(0, length)), starts };
  }

  #templateOf(sourceId: number): LineTemplate {
    const { board, format, columns, code, measure } = this.#options;
    const [unit, quote, factor] = measureCells(measure, undefined) as [string, string, string];
    const source = sourceNames(board, [sourceId]);
    // Every average is that of one close.
    return lineTemplate(format, columns, { symbol: code, unit, quote, factor, source, count: '1' });
  }
}

/** Identifies the text of a bar. */
function keyOf({ format, columns, code, measure: { unit, quote } }: SettledLinesOptions): string {
  return JSON.stringify([format, columns.length, code, unit, quote]);
}

/** Renders the bars from `from` on into `scratch`, and sets `starts`. The loop is hot: it uses local variables only. */
function renderLines(
  bars: FrozenBars,
  from: number,
  templates: ReadonlyMap<number, LineTemplate>,
  starts: Uint32Array,
): number {
  const { days, prices, sources } = bars.arrays;
  const constantMax = Math.max(0, ...[...templates.values()].map(constantBytes));
  const lineBytesMax = constantMax + DAY_BYTES + NUMBERS_PER_LINE * NUMBER_BYTES_MAX;
  let page = scratch;
  let sourceId = Number.NaN;
  let template = templates.values().next().value!;
  let at = 0;
  for (let place = 0; place < starts.length - 1; place++) {
    const i = from + place;
    if (at + lineBytesMax > page.length) {
      page = Buffer.concat([page, Buffer.allocUnsafeSlow(page.length + lineBytesMax)]);
      scratch = page;
    }
    if (sources[i] !== sourceId) {
      sourceId = sources[i]!;
      template = templates.get(sourceId)!;
    }
    at = writeBytes(template.beforeDate, page, at);
    at = writeDay(days[i]!, page, at);
    at = writeBytes(template.beforeOpen, page, at);
    at = writeNumber(prices[4 * i]!, page, at);
    at = writeBytes(template.beforeHigh, page, at);
    at = writeNumber(prices[4 * i + 1]!, page, at);
    at = writeBytes(template.beforeLow, page, at);
    at = writeNumber(prices[4 * i + 2]!, page, at);
    at = writeBytes(template.beforeClose, page, at);
    const close = at;
    at = writeNumber(prices[4 * i + 3]!, page, at);
    const closeEnd = at;
    at = writeBytes(template.afterClose, page, at);
    if (template.afterAverage) {
      at = repeatBytes(page, close, closeEnd, at); // the average of a single close is the close
      at = writeBytes(template.afterAverage, page, at);
    }
    starts[place + 1] = at;
  }
  return at;
}
