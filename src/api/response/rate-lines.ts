import { BARS_PER_PAGE, type Columns } from '../../board/series/bars/columns.ts';
import type { SourcedBar } from '../../board/series/price-types.ts';
import type { SettledRange } from '../../board/views/prices.ts';
import type { Bar } from '../../market/bar.ts';
import { type Day, printDay } from '../../market/day.ts';
import type { RenderPage, TextPage, TextPages } from '../../runtime/text-pages.ts';
import { type ByteWriter, CLOSE, COMMA } from '../model/byte-writer.ts';
import { rateJson } from './json.ts';

/** The bars of one symbol, each with its line of JSON: `"XAU":{"open":…}`. */
export interface RateLines {
  readonly length: number;
  day(index: number): Day;
  /** With `isFirst`, writes the opening of the day first: `,"2024-05-14":{`. */
  write(index: number, isFirst: boolean, writer: ByteWriter): void;
}

function openDay(day: Day): string {
  return `,"${printDay(day)}":{`;
}

const OPEN_DAY_LENGTH = openDay(0).length;

function datedLine(code: string, bar: Bar): string {
  return openDay(bar.day) + rateJson(code, bar);
}

/** Lines of settled bars, from rendered pages. */
export class SettledLines implements RateLines {
  readonly #columns: Columns;
  readonly #from: number;
  readonly #texts: TextPages<object>;
  readonly #render: RenderPage;
  readonly length: number;

  constructor(code: string, settled: SettledRange) {
    this.#columns = settled.columns;
    this.#from = settled.from;
    this.#texts = settled.columns.texts(code);
    this.#render = (number) => renderBars(settled.columns, code, number);
    this.length = settled.to - settled.from;
  }

  day(index: number): Day {
    return this.#columns.day(this.#from + index);
  }

  write(index: number, isFirst: boolean, writer: ByteWriter): void {
    this.#texts.copyRow(this.#from + index, isFirst ? 0 : OPEN_DAY_LENGTH, writer, this.#render);
  }
}

function renderBars(columns: Columns, code: string, number: number): TextPage {
  const first = number * BARS_PER_PAGE;
  const count = Math.min(BARS_PER_PAGE, columns.length - first);
  const starts = new Uint32Array(count + 1);
  let text = '';
  for (let i = 0; i < count; i++) {
    text += datedLine(code, columns.bar(first + i));
    starts[i + 1] = text.length;
  }
  return { bytes: Buffer.from(text, 'latin1'), starts };
}

/** Lines of bars that are rendered now. */
export class BarLines implements RateLines {
  readonly #code: string;
  readonly #bars: readonly SourcedBar[];

  constructor(code: string, bars: readonly SourcedBar[]) {
    this.#code = code;
    this.#bars = bars;
  }

  get length(): number {
    return this.#bars.length;
  }

  day(index: number): Day {
    return this.#bars[index]!.day;
  }

  write(index: number, isFirst: boolean, writer: ByteWriter): void {
    const bar = this.#bars[index]!;
    writer.ascii(isFirst ? datedLine(this.#code, bar) : rateJson(this.#code, bar));
  }
}

/**
 * `,"2024-05-14":{"XAU":{…},"XAG":{…}}` for each day that any symbol has: a merge of the symbols' days.
 * `onDay` is called for each day before it is written.
 */
export function writeByDay(
  writer: ByteWriter,
  lines: readonly RateLines[],
  onDay?: (day: Day) => void,
): void {
  const next = lines.map(() => 0);
  const days = lines.map((own) => (own.length > 0 ? own.day(0) : NEVER));
  for (;;) {
    let day = NEVER;
    for (let i = 0; i < days.length; i++) if (days[i]! < day) day = days[i]!;
    if (day === NEVER) return;
    onDay?.(day);
    let isFirst = true;
    for (let i = 0; i < days.length; i++) {
      if (days[i] !== day) continue;
      const own = lines[i]!;
      if (!isFirst) writer.byte(COMMA);
      own.write(next[i]!, isFirst, writer);
      isFirst = false;
      next[i]!++;
      days[i] = next[i]! < own.length ? own.day(next[i]!) : NEVER;
    }
    writer.byte(CLOSE);
  }
}

const NEVER: Day = Number.POSITIVE_INFINITY;
