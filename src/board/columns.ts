import type { Bar, Ohlc } from '../market/bar.ts';
import type { Day } from '../market/day.ts';
import { KeptBar } from './kept-bar.ts';
import type { Factor } from './prices.ts';

/** How many bars are kept as objects with their texts, over all symbols: about 50 MB. */
const KEPT_MAX = 200_000;

/** A bar and where it comes from. */
export interface SourcedBar extends Bar {
  sourceId: number;
  /** Where it was converted. */
  factor?: Factor;
}

/**
 * A symbol's history as columns, sorted by day:
 *
 *     days    [ 16437 | 16440 | 16441 | … |   free   ]   Int32Array
 *     prices  [ o h l c | o h l c | o h l c | …      ]   Float64Array, four to a day
 *     sources [     3 |     3 |     4 | … |          ]   Int32Array
 *
 * A new day is mostly the last one and goes to the end; the arrays double when they are full. Bars that were asked for
 * are kept as objects beside them; when there are too many, the columns that began first let go of theirs.
 */
export class Columns {
  #days: Int32Array;
  #prices: Float64Array;
  #sources: Int32Array;
  #length = 0;
  #kept: (KeptBar | undefined)[] = [];
  #keptCount = 0;
  static readonly #keepers = new Set<Columns>();
  static #keptTotal = 0;

  constructor(capacity = 16) {
    this.#days = new Int32Array(capacity);
    this.#prices = new Float64Array(capacity * 4);
    this.#sources = new Int32Array(capacity);
  }

  get length(): number {
    return this.#length;
  }

  get bytes(): number {
    return this.#days.byteLength + this.#prices.byteLength + this.#sources.byteLength;
  }

  /** Puts a day's bar in its place, over the one that is there. */
  set(day: Day, ohlc: Ohlc, sourceId: number): void {
    let index = this.#length;
    if (index > 0 && this.#days[index - 1]! >= day) {
      this.#forgetKept();
      index = this.firstFrom(day);
      if (this.#days[index] !== day) this.#open(index);
    } else {
      this.#open(index);
    }
    this.#days[index] = day;
    this.#sources[index] = sourceId;
    const at = index * 4;
    this.#prices[at] = ohlc.open;
    this.#prices[at + 1] = ohlc.high;
    this.#prices[at + 2] = ohlc.low;
    this.#prices[at + 3] = ohlc.close;
  }

  /** The index of the first day that is not before `day`; `length` when all are before it. */
  firstFrom(day: Day): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#days[middle]! < day) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  day(index: number): Day {
    return this.#days[index]!;
  }

  bar(index: number): SourcedBar {
    return this.#kept[index] ?? this.#keep(index);
  }

  #keep(index: number): KeptBar {
    while (Columns.#keptTotal >= KEPT_MAX) Columns.#keepers.values().next().value!.#forgetKept();
    const bar = new KeptBar(this.#days[index]!, this.#prices, index * 4, this.#sources[index]!);
    this.#kept[index] = bar;
    this.#keptCount++;
    Columns.#keptTotal++;
    Columns.#keepers.add(this);
    return bar;
  }

  #forgetKept(): void {
    this.#kept = [];
    Columns.#keptTotal -= this.#keptCount;
    this.#keptCount = 0;
    Columns.#keepers.delete(this);
  }

  /** Makes room for one day at an index. */
  #open(index: number): void {
    if (this.#length === this.#days.length) this.#grow();
    this.#days.copyWithin(index + 1, index, this.#length);
    this.#sources.copyWithin(index + 1, index, this.#length);
    this.#prices.copyWithin((index + 1) * 4, index * 4, this.#length * 4);
    this.#length++;
  }

  #grow(): void {
    const capacity = this.#days.length * 2;
    const [days, prices, sources] = [this.#days, this.#prices, this.#sources];
    this.#days = new Int32Array(capacity);
    this.#days.set(days);
    this.#prices = new Float64Array(capacity * 4);
    this.#prices.set(prices);
    this.#sources = new Int32Array(capacity);
    this.#sources.set(sources);
  }
}
