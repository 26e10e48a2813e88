import type { Bar, Ohlc } from '../market/bar.ts';
import type { Day } from '../market/day.ts';
import { BarTexts } from './bar-texts.ts';
import type { Factor } from './prices.ts';

/** A bar and where it comes from. */
export interface SourcedBar extends Bar {
  sourceId: number;
  /** Where it was converted. */
  factor?: Factor;
}

/** So many days more than there are have room. */
const CAPACITY_LEAST = 16;

/**
 * A symbol's history as columns, sorted by day:
 *
 *     days    [ 16437 | 16440 | 16441 | … |   free   ]   Int32Array
 *     prices  [ o h l c | o h l c | o h l c | …      ]   Float64Array, four to a day
 *     sources [     3 |     3 |     4 | … |          ]   Int32Array
 *
 * A new day is mostly the last one and goes to the end; the arrays double when they are full. The texts of bars that were
 * asked for are kept beside them.
 */
export class Columns {
  #days = new Int32Array(CAPACITY_LEAST);
  #prices = new Float64Array(CAPACITY_LEAST * 4);
  #sources = new Int32Array(CAPACITY_LEAST);
  /** Of all bars, where they have one source, as mostly they do. */
  #source: number | undefined;
  #length = 0;
  static #lastVersion = 0;
  /** A new one with every change, that no other history ever has. */
  version = ++Columns.#lastVersion;
  /** By the code that they are written under: a symbol may have aliases. */
  readonly #texts = new Map<string, BarTexts>();

  get length(): number {
    return this.#length;
  }

  get bytes(): number {
    return this.#days.byteLength + this.#prices.byteLength + this.#sources.byteLength;
  }

  /** Puts a day's bar in its place, over the one that is there. */
  set(day: Day, ohlc: Ohlc, sourceId: number): void {
    this.version = ++Columns.#lastVersion;
    if (this.#length === 0) this.#source = sourceId;
    else if (sourceId !== this.#source) this.#source = undefined;
    let index = this.#length;
    if (index > 0 && this.#days[index - 1]! >= day) {
      this.forgetTexts();
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

  /** Removes a day, if it is there. */
  remove(day: Day): void {
    const index = this.firstFrom(day);
    if (index === this.#length || this.#days[index] !== day) return;
    this.version = ++Columns.#lastVersion;
    this.forgetTexts();
    this.#days.copyWithin(index, index + 1, this.#length);
    this.#sources.copyWithin(index, index + 1, this.#length);
    this.#prices.copyWithin(index * 4, (index + 1) * 4, this.#length * 4);
    this.#length--;
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

  /** The sources of the bars from one index up to another, each once. */
  sources(from: number, to: number): number[] {
    if (this.#source !== undefined && to > from) return [this.#source];
    const ids: number[] = [];
    let last: number | undefined;
    for (let i = from; i < to; i++) {
      const id = this.#sources[i]!;
      if (id === last) continue;
      last = id;
      if (!ids.includes(id)) ids.push(id);
    }
    return ids;
  }

  bar(index: number): SourcedBar {
    const at = index * 4;
    return {
      day: this.#days[index]!,
      open: this.#prices[at]!,
      high: this.#prices[at + 1]!,
      low: this.#prices[at + 2]!,
      close: this.#prices[at + 3]!,
      sourceId: this.#sources[index]!,
    };
  }

  /** The texts of its bars under a code. There is one way to write them, so `write` is always the same. */
  texts(code: string, write: (code: string, bar: Bar) => string): BarTexts {
    const known = this.#texts.get(code);
    if (known) return known;
    const texts = new BarTexts(this, (bar) => write(code, bar));
    this.#texts.set(code, texts);
    return texts;
  }

  /** Who lets go of a history says so: its texts would keep it in memory. */
  forgetTexts(): void {
    for (const texts of this.#texts.values()) texts.forget();
  }

  /** Gives back the room that a whole history does not need. */
  trim(): void {
    this.#resize(this.#length + CAPACITY_LEAST);
  }

  /** Makes room for one day at an index. */
  #open(index: number): void {
    if (this.#length === this.#days.length) this.#resize(this.#length * 2);
    this.#days.copyWithin(index + 1, index, this.#length);
    this.#sources.copyWithin(index + 1, index, this.#length);
    this.#prices.copyWithin((index + 1) * 4, index * 4, this.#length * 4);
    this.#length++;
  }

  #resize(capacity: number): void {
    const [days, prices, sources] = [this.#days, this.#prices, this.#sources];
    this.#days = new Int32Array(capacity);
    this.#days.set(days.subarray(0, this.#length));
    this.#prices = new Float64Array(capacity * 4);
    this.#prices.set(prices.subarray(0, this.#length * 4));
    this.#sources = new Int32Array(capacity);
    this.#sources.set(sources.subarray(0, this.#length));
  }
}
