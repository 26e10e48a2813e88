import type { Ohlc } from '../../../market/bar.ts';
import type { Day } from '../../../market/day.ts';
import { TextPageCache, TextPages } from '../../../runtime/text-pages.ts';
import type { SourcedBar } from '../price-types.ts';
import { type BarArrays, barAt, distinct, FrozenBars, firstFrom, type TableTexts } from './frozen-bars.ts';

export const BARS_PER_PAGE = 128;

/** The rendered bars of all histories of the process. */
export const barTextCache = new TextPageCache<object>();

/** Spare days in new and trimmed arrays. */
const CAPACITY_SPARE = 16;

/**
 * A symbol's history as columns, sorted by day:
 *
 *     days    [ 16437 | 16440 | 16441 | … |   free   ]   Int32Array
 *     prices  [ o h l c | o h l c | o h l c | …      ]   Float64Array, four to a day
 *     sources [     3 |     3 |     4 | … |          ]   Int32Array
 *
 * A new day is usually the last one and is appended; full arrays double. The JSON texts of requested bars are cached beside
 * them.
 */
export class Columns {
  /** Earlier days are not loaded. */
  readonly from: Day;
  #arrays: BarArrays = {
    days: new Int32Array(CAPACITY_SPARE),
    prices: new Float64Array(CAPACITY_SPARE * 4),
    sources: new Int32Array(CAPACITY_SPARE),
  };
  /** The source of all bars, if they share one, as they usually do. */
  #source: number | undefined;
  #length = 0;
  #frozen: FrozenBars | undefined;
  /** Whether a snapshot reads these arrays. It ignores appended bars; before any other change the arrays are copied. */
  #areShared = false;
  static #lastVersion = 0;
  /** Changes with every write. Unique across all histories. */
  version = ++Columns.#lastVersion;
  /** By the code in the text: a symbol may have aliases. */
  readonly #texts = new Map<string, TextPages<object>>();
  /** Shared with all snapshots that were taken since a bar was corrected. */
  #tableTexts: TableTexts = new Map();

  constructor(from = Number.NEGATIVE_INFINITY) {
    this.from = from;
  }

  get length(): number {
    return this.#length;
  }

  get bytes(): number {
    return this.#arrays.days.byteLength + this.#arrays.prices.byteLength + this.#arrays.sources.byteLength;
  }

  /** Inserts or replaces the bar of a day. */
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
      if (this.#arrays.days[index] !== day) this.#shift(index);
    } else {
      this.#shift(index);
    }
    this.#arrays.days[index] = day;
    this.#arrays.sources[index] = sourceId;
    const at = index * 4;
    this.#arrays.prices[at] = ohlc.open;
    this.#arrays.prices[at + 1] = ohlc.high;
    this.#arrays.prices[at + 2] = ohlc.low;
    this.#arrays.prices[at + 3] = ohlc.close;
  }

  /** Removes the bar of a day, if there is one. */
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

  /** The index of the first day on or after `day`; `length` if there is none. */
  firstFrom(day: Day): number {
    return firstFrom(this.#arrays.days, this.#length, day);
  }

  day(index: number): Day {
    return this.#arrays.days[index]!;
  }

  /** The sources of the bars at `from` ≤ i < `to`, each once. */
  sources(from: number, to: number): number[] {
    if (this.#source !== undefined && to > from) return [this.#source];
    return distinct(this.#arrays.sources, from, to);
  }

  bar(index: number): SourcedBar {
    return barAt(this.#arrays, index);
  }

  /** A snapshot. It shares the arrays until a bar is corrected. */
  freeze(): FrozenBars {
    this.#areShared = true;
    this.#frozen ??= new FrozenBars(this.#arrays, this.#length, this.#tableTexts);
    return this.#frozen;
  }

  /** The rendered bars under a code, by index. Every caller must render them the same way. */
  texts(code: string): TextPages<object> {
    const known = this.#texts.get(code);
    if (known) return known;
    const texts = new TextPages<object>(barTextCache, { code }, BARS_PER_PAGE);
    this.#texts.set(code, texts);
    return texts;
  }

  /** Call before dropping the history: its texts would stay in their cache. */
  forgetTexts(): void {
    for (const texts of this.#texts.values()) texts.clear();
    for (const texts of this.#tableTexts.values()) texts.clear();
    this.#tableTexts = new Map();
  }

  /** Frees spare capacity after a history was loaded. */
  trim(): void {
    this.#resize(this.#length + CAPACITY_SPARE);
  }

  /** Makes room for one day at an index. */
  #shift(index: number): void {
    if (this.#length === this.#arrays.days.length) this.#resize(this.#length * 2);
    if (index < this.#length) {
      this.#arrays.days.copyWithin(index + 1, index, this.#length);
      this.#arrays.sources.copyWithin(index + 1, index, this.#length);
      this.#arrays.prices.copyWithin((index + 1) * 4, index * 4, this.#length * 4);
    }
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
