import type { Day } from '../../../market/day.ts';
import { TextPageCache, TextPages } from '../../../runtime/text-pages.ts';
import type { SourcedBar } from '../price-types.ts';

/** The arrays of a history: ascending days, each with four prices and a source. */
export interface BarArrays {
  days: Int32Array;
  prices: Float64Array;
  sources: Int32Array;
}

/** A digest hashes at most two partial blocks of about 40 KB; hashes of whole blocks are cached. */
const BARS_PER_BLOCK = 1_024;

/** Bars that are rendered at once as lines of a table, in about half a millisecond. A power of two. */
export const TABLE_BARS_PER_PAGE = 2_048;

/** The bars of all histories of the process as lines of tables. */
export const tableLinesCache = new TextPageCache<object>();

/** The lines of a history, by what they look like. */
export type TableTexts = Map<string, TextPages<object>>;

/**
 * A snapshot of a history. It shares its arrays with its `Columns`, which copy them before they change a bar of the
 * snapshot.
 */
export class FrozenBars {
  readonly #arrays: BarArrays;
  readonly #blocks: bigint[] = [];
  #lastDigest: { from: number; to: number; value: bigint } | undefined;
  readonly #texts: TableTexts;
  readonly length: number;

  /** Snapshots with the same bars at the beginning may share `texts`. */
  constructor(arrays: BarArrays, length: number, texts: TableTexts = new Map()) {
    this.#arrays = arrays;
    this.length = length;
    this.#texts = texts;
  }

  day(index: number): Day {
    return this.#arrays.days[index]!;
  }

  /** The days at `from` ≤ i < `to`. Do not write to the array. */
  days(from: number, to: number): Int32Array {
    return this.#arrays.days.subarray(from, to);
  }

  bar(index: number): SourcedBar {
    return barAt(this.#arrays, index);
  }

  /** The bars as columns, for loops over many of them. Do not write to the arrays. */
  get arrays(): Readonly<BarArrays> {
    return this.#arrays;
  }

  /** The sources of the bars at `from` ≤ i < `to`, each once. */
  sourcesIn(from: number, to: number): number[] {
    return distinct(this.#arrays.sources, from, to);
  }

  firstFrom(day: Day): number {
    return firstFrom(this.#arrays.days, this.length, day);
  }

  /** The bars as lines, by index. Every caller with the same key must render them the same way. */
  texts(key: string): TextPages<object> {
    const known = this.#texts.get(key);
    if (known) return known;
    const texts = new TextPages<object>(tableLinesCache, { key }, TABLE_BARS_PER_PAGE);
    this.#texts.set(key, texts);
    return texts;
  }

  /** A hash of the bars at `from` ≤ i < `to`. The last one is cached: downloads are mostly repeated. */
  digest(from: number, to: number): bigint {
    const last = this.#lastDigest;
    if (last?.from === from && last.to === to) return last.value;
    const value = this.#digest(from, to);
    this.#lastDigest = { from, to, value };
    return value;
  }

  #digest(from: number, to: number): bigint {
    const parts: bigint[] = [];
    for (let at = from; at < to; ) {
      const block = Math.floor(at / BARS_PER_BLOCK);
      const end = Math.min((block + 1) * BARS_PER_BLOCK, to);
      parts.push(end - at === BARS_PER_BLOCK ? this.#block(block) : this.#hash(at, end));
      at = end;
    }
    return Bun.hash.xxHash3(BigUint64Array.from(parts));
  }

  #block(block: number): bigint {
    this.#blocks[block] ??= this.#hash(block * BARS_PER_BLOCK, (block + 1) * BARS_PER_BLOCK);
    return this.#blocks[block];
  }

  #hash(from: number, to: number): bigint {
    const { days, prices, sources } = this.#arrays;
    const parts = [days.subarray(from, to), prices.subarray(from * 4, to * 4), sources.subarray(from, to)];
    return Bun.hash.xxHash3(BigUint64Array.from(parts, (part) => Bun.hash.xxHash3(part)));
  }
}

export function barAt({ days, prices, sources }: BarArrays, index: number): SourcedBar {
  const at = index * 4;
  return {
    day: days[index]!,
    open: prices[at]!,
    high: prices[at + 1]!,
    low: prices[at + 2]!,
    close: prices[at + 3]!,
    sourceId: sources[index]!,
  };
}

/** The values at `from` ≤ i < `to`, each once. Neighbours are mostly equal. */
export function distinct(values: Int32Array, from: number, to: number): number[] {
  const found: number[] = [];
  let last: number | undefined;
  for (let i = from; i < to; i++) {
    const value = values[i]!;
    if (value === last) continue;
    last = value;
    if (!found.includes(value)) found.push(value);
  }
  return found;
}

/** The index of the first of `length` days on or after `day`; `length` if there is none. */
export function firstFrom(days: Int32Array, length: number, day: Day): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (days[middle]! < day) low = middle + 1;
    else high = middle;
  }
  return low;
}
