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
  #text: string | undefined;

  constructor(day: Day, prices: Float64Array, at: number, sourceId: number) {
    this.day = day;
    this.open = prices[at]!;
    this.high = prices[at + 1]!;
    this.low = prices[at + 2]!;
    this.close = prices[at + 3]!;
    this.sourceId = sourceId;
  }

  /** What `write` makes of its prices. There is one way to write them, so the first text stands. */
  text(write: (prices: Ohlc) => string): string {
    this.#text ??= write(this);
    return this.#text;
  }
}
