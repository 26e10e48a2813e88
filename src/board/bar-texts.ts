import type { Ohlc } from '../market/bar.ts';

/** A power of two. */
const BARS_PER_PAGE = 128;
/** Over all symbols: about 60 MB. */
const PAGES_MAX = 6_000;

/** Where texts are copied to. */
export interface TextTarget {
  copy(bytes: Uint8Array, from: number, to: number): void;
}

interface History {
  readonly length: number;
  bar(index: number): Ohlc;
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
 *     pages  [ "XAU":{"open":…} "XAU":{"open":…} … ] [ … ] [   not yet   ] …   ASCII
 *              ▲ starts         ▲                ▲
 *
 * When there are too many pages, the history that began first lets go of its own.
 */
export class BarTexts {
  readonly #history: History;
  readonly #write: (bar: Ohlc) => string;
  #pages: (Page | undefined)[] = [];
  #count = 0;
  static readonly #keepers = new Set<BarTexts>();
  static #total = 0;

  constructor(history: History, write: (bar: Ohlc) => string) {
    this.#history = history;
    this.#write = write;
  }

  /** Copies the text of the bar at an index. */
  copy(index: number, target: TextTarget): void {
    const place = index & (BARS_PER_PAGE - 1);
    let page = this.#pages[(index - place) / BARS_PER_PAGE];
    if (!page || page.starts.length <= place + 1) page = this.#make(index - place);
    target.copy(page.bytes, page.starts[place]!, page.starts[place + 1]!);
  }

  /** Of all bars, when one of them has changed. */
  forget(): void {
    this.#pages = [];
    BarTexts.#total -= this.#count;
    this.#count = 0;
    BarTexts.#keepers.delete(this);
  }

  #make(first: number): Page {
    while (BarTexts.#total >= PAGES_MAX) BarTexts.#keepers.values().next().value!.forget();
    const count = Math.min(BARS_PER_PAGE, this.#history.length - first);
    const starts = new Uint32Array(count + 1);
    let text = '';
    for (let i = 0; i < count; i++) {
      text += this.#write(this.#history.bar(first + i));
      starts[i + 1] = text.length;
    }
    const page = { bytes: Buffer.from(text, 'latin1'), starts };
    const number = first / BARS_PER_PAGE;
    if (!this.#pages[number]) {
      this.#count++;
      BarTexts.#total++;
    }
    this.#pages[number] = page;
    BarTexts.#keepers.add(this);
    return page;
  }
}
