import type { Ohlc } from '../market/bar.ts';
import type { Day } from '../market/day.ts';

/** A bar of the history, as it is asked for again and again. Its prices are written down once. */
export class KeptBar implements Ohlc {
  readonly day: Day;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly sourceId: number;
  #code = '';
  #text = '';

  constructor(day: Day, prices: Float64Array, at: number, sourceId: number) {
    this.day = day;
    this.open = prices[at]!;
    this.high = prices[at + 1]!;
    this.low = prices[at + 2]!;
    this.close = prices[at + 3]!;
    this.sourceId = sourceId;
  }

  /** What `write` makes of it under a code. There is one way to write it, and mostly one code, so the last text stands. */
  text(code: string, write: (code: string, prices: Ohlc) => string): string {
    if (this.#code !== code) {
      this.#text = write(code, this);
      this.#code = code;
    }
    return this.#text;
  }
}
