import type { BarTexts } from '../board/bar-texts.ts';
import type { Columns, SourcedBar } from '../board/columns.ts';
import type { Prices, Settled } from '../board/prices.ts';
import type { Day } from '../market/day.ts';
import type { AskedSymbol } from './parameters.ts';
import { addOnce, rateJson, sourceIdsOfAll } from './render.ts';
import type { Sheet } from './sheet.ts';

/** The bars of one symbol, each with its line of JSON: `"XAU":{"open":…}`. */
export interface RateLines {
  readonly length: number;
  day(index: number): Day;
  write(index: number, sheet: Sheet): void;
  /** Of all of them. */
  sourceIds(): number[];
}

/** Mostly they are in the history, and were written before; else they are written now. */
export function rateLines({ code, series }: AskedSymbol, prices: Prices, first: Day, last: Day): RateLines {
  const settled = prices.settled?.(series, first, last);
  return settled ? new SettledLines(code, settled) : new BarLines(code, prices.bars(series, first, last));
}

class SettledLines implements RateLines {
  readonly #columns: Columns;
  readonly #from: number;
  readonly #texts: BarTexts;
  readonly length: number;

  constructor(code: string, settled: Settled) {
    this.#columns = settled.columns;
    this.#from = settled.from;
    this.#texts = settled.columns.texts(code, rateJson);
    this.length = settled.to - settled.from;
  }

  day(index: number): Day {
    return this.#columns.day(this.#from + index);
  }

  write(index: number, sheet: Sheet): void {
    this.#texts.copy(this.#from + index, sheet);
  }

  sourceIds(): number[] {
    const ids: number[] = [];
    for (let i = 0; i < this.length; i++) addOnce(ids, this.#columns.source(this.#from + i));
    return ids;
  }
}

export class BarLines implements RateLines {
  readonly #code: string;
  readonly bars: readonly SourcedBar[];

  constructor(code: string, bars: readonly SourcedBar[]) {
    this.#code = code;
    this.bars = bars;
  }

  get length(): number {
    return this.bars.length;
  }

  day(index: number): Day {
    return this.bars[index]!.day;
  }

  write(index: number, sheet: Sheet): void {
    sheet.ascii(rateJson(this.#code, this.bars[index]!));
  }

  sourceIds(): number[] {
    return sourceIdsOfAll(this.bars);
  }
}
