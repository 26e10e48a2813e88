import type { Bar, Ohlc } from '../../market/bar.ts';
import type { Day } from '../../market/day.ts';
import { BarTexts } from './bar-texts.ts';
import { type BarArrays, barAt, FrozenBars, firstFrom } from './frozen-bars.ts';
import type { SourcedBar } from './price-types.ts';

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
  #arrays: BarArrays = {
    days: new Int32Array(CAPACITY_LEAST),
    prices: new Float64Array(CAPACITY_LEAST * 4),
    sources: new Int32Array(CAPACITY_LEAST),
  };
  /** Of all bars, where they have one source, as mostly they do. */
  #source: number | undefined;
  #length = 0;
  #frozen: FrozenBars | undefined;
  /** Whether a frozen copy reads these arrays. It sees no bar that is appended; before any other change they are copied. */
  #areShared = false;
  static #lastVersion = 0;
  /** A new one with every change, that no other history ever has. */
  version = ++Columns.#lastVersion;
  /** By the code that they are written under: a symbol may have aliases. */
  readonly #texts = new Map<string, BarTexts>();

  get length(): number {
    return this.#length;
  }

  get bytes(): number {
    return this.#arrays.days.byteLength + this.#arrays.prices.byteLength + this.#arrays.sources.byteLength;
  }

  /** Puts a day's bar in its place, over the one that is there. */
  set(day: Day, ohlc: Ohlc, sourceId: number): void {
    this.version = ++Columns.#lastVersion;
    this.#frozen = undefined;
    if (this.#length === 0) this.#source = sourceId;
    else if (sourceId !== this.#source) this.#source = undefined;
    let index = this.#length;
    if (index > 0 && this.#arrays.days[index - 1]! >= day) {
      this.forgetTexts();
      if (this.#areShared) this.#resize(this.#arrays.days.length);
      index = this.firstFrom(day);
      if (this.#arrays.days[index] !== day) this.#open(index);
    } else {
      this.#open(index);
    }
    this.#arrays.days[index] = day;
    this.#arrays.sources[index] = sourceId;
    const at = index * 4;
    this.#arrays.prices[at] = ohlc.open;
    this.#arrays.prices[at + 1] = ohlc.high;
    this.#arrays.prices[at + 2] = ohlc.low;
    this.#arrays.prices[at + 3] = ohlc.close;
  }

  /** Removes a day, if it is there. */
  remove(day: Day): void {
    const index = this.firstFrom(day);
    if (index === this.#length || this.#arrays.days[index] !== day) return;
    this.version = ++Columns.#lastVersion;
    this.#frozen = undefined;
    this.forgetTexts();
    if (this.#areShared) this.#resize(this.#arrays.days.length);
    this.#arrays.days.copyWithin(index, index + 1, this.#length);
    this.#arrays.sources.copyWithin(index, index + 1, this.#length);
    this.#arrays.prices.copyWithin(index * 4, (index + 1) * 4, this.#length * 4);
    this.#length--;
  }

  /** The index of the first day that is not before `day`; `length` when all are before it. */
  firstFrom(day: Day): number {
    return firstFrom(this.#arrays.days, this.#length, day);
  }

  day(index: number): Day {
    return this.#arrays.days[index]!;
  }

  /** The sources of the bars from one index up to another, each once. */
  sources(from: number, to: number): number[] {
    if (this.#source !== undefined && to > from) return [this.#source];
    const ids: number[] = [];
    let last: number | undefined;
    for (let i = from; i < to; i++) {
      const id = this.#arrays.sources[i]!;
      if (id === last) continue;
      last = id;
      if (!ids.includes(id)) ids.push(id);
    }
    return ids;
  }

  bar(index: number): SourcedBar {
    return barAt(this.#arrays, index);
  }

  /** The history as it is now. It costs no copy before the next correction. */
  freeze(): FrozenBars {
    this.#areShared = true;
    this.#frozen ??= new FrozenBars(this.#arrays, this.#length);
    return this.#frozen;
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
    if (this.#length === this.#arrays.days.length) this.#resize(this.#length * 2);
    this.#arrays.days.copyWithin(index + 1, index, this.#length);
    this.#arrays.sources.copyWithin(index + 1, index, this.#length);
    this.#arrays.prices.copyWithin((index + 1) * 4, index * 4, this.#length * 4);
    this.#length++;
  }

  #resize(capacity: number): void {
    const { days, prices, sources } = this.#arrays;
    this.#arrays = {
      days: new Int32Array(capacity),
      prices: new Float64Array(capacity * 4),
      sources: new Int32Array(capacity),
    };
    this.#arrays.days.set(days.subarray(0, this.#length));
    this.#arrays.prices.set(prices.subarray(0, this.#length * 4));
    this.#arrays.sources.set(sources.subarray(0, this.#length));
    this.#areShared = false;
  }
}
