import type { Bar } from '../../market/bar.ts';
import { BoundedCache } from '../../runtime/bounded-cache.ts';

/** A power of two. */
const BARS_PER_PAGE = 128;
/** What a page takes beside its text and its starts, measured. */
const PAGE_BYTES = 400;
/** What a history's texts take without a page. */
const TEXTS_BYTES = 400;
/** Until the service sets its own limit. */
const BYTES_MAX_DEFAULT = 64 * 1024 * 1024;
const CACHE_LINE_BYTES = 64;

/** Where texts are copied to. */
export interface TextTarget {
  copy(bytes: Uint8Array, from: number, to: number): void;
}

interface History {
  readonly length: number;
  bar(index: number): Bar;
}

interface Page {
  bytes: Uint8Array;
  /** Where each text begins, and where the last one ends. */
  starts: Uint32Array;
}

/**
 * The bars of a history as answers write them. They are written once, when they are first asked for, in pages of consecutive
 * days, for those are asked for together:
 *
 *     pages  [ ,"2024-05-14":{"XAU":{…} ,"2024-05-15":{"XAU":{…} … ] [ … ] [   not yet   ] …   ASCII
 *              ▲ starts                 ▲                       ▲
 *
 * All pages share one memory limit. When it is reached, the history that came first loses its pages.
 */
export class BarTexts {
  readonly #history: History;
  readonly #write: (bar: Bar) => string;
  #pages: (Page | undefined)[] = [];
  /** Of all histories of the process. */
  static readonly cache = new BoundedCache<BarTexts, BarTexts>({
    bytesMax: BYTES_MAX_DEFAULT,
    onEvict: (texts) => texts.#drop(),
  });
  /** Means nothing. Without it, looking at the texts could be left out. */
  static fetched = 0;

  constructor(history: History, write: (bar: Bar) => string) {
    this.#history = history;
    this.#write = write;
  }

  /** Copies the text of the bar at an index, without its first `skip` characters. */
  copy(index: number, skip: number, target: TextTarget): void {
    const place = index & (BARS_PER_PAGE - 1);
    let page = this.#pages[(index - place) / BARS_PER_PAGE];
    if (!page || page.starts.length <= place + 1) page = this.#make(index - place);
    target.copy(page.bytes, page.starts[place]! + skip, page.starts[place + 1]!);
  }

  /**
   * Has the texts of some bars come to the processor's caches: looked at in a row, they are brought many at a time, while each
   * that is copied would be waited for (15 instead of 20 µs for a month of five symbols that were not asked for lately).
   */
  fetch(from: number, to: number): void {
    let sum = 0;
    for (let first = from - (from % BARS_PER_PAGE); first < to; first += BARS_PER_PAGE) {
      const page = this.#pages[first / BARS_PER_PAGE];
      if (!page) continue;
      const { bytes, starts } = page;
      const end = starts[Math.min(to - first, starts.length - 1)]!;
      for (let i = starts[Math.max(0, from - first)]!; i < end; i += CACHE_LINE_BYTES) sum += bytes[i]!;
    }
    BarTexts.fetched = sum;
  }

  /** Of all bars, when one of them has changed. */
  forget(): void {
    this.#drop();
    BarTexts.cache.delete(this);
  }

  #drop(): void {
    this.#pages = [];
  }

  #make(first: number): Page {
    const count = Math.min(BARS_PER_PAGE, this.#history.length - first);
    const starts = new Uint32Array(count + 1);
    let text = '';
    for (let i = 0; i < count; i++) {
      text += this.#write(this.#history.bar(first + i));
      starts[i + 1] = text.length;
    }
    const page = { bytes: Buffer.from(text, 'latin1'), starts };
    const number = first / BARS_PER_PAGE;
    const replaced = this.#pages[number];
    this.#pages[number] = page;
    this.#account(sizeOf(page) - (replaced ? sizeOf(replaced) : 0));
    return page;
  }

  /** A history that alone is larger than the limit loses its pages at once; the caller has what it needs. */
  #account(bytes: number): void {
    const { cache } = BarTexts;
    if (cache.has(this)) cache.grow(this, bytes);
    else if (!cache.set(this, this, TEXTS_BYTES + bytes)) this.#drop();
  }
}

function sizeOf({ bytes, starts }: Page): number {
  return PAGE_BYTES + bytes.length + starts.byteLength;
}
