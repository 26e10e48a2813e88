import type { History } from './types.ts';

/**
 * All pages of a history, in order. Iterating requests one page after the other. After an error, iterating again continues with
 * the page that failed, so that no page is missed and none is delivered twice.
 */
export class HistoryPages<N> implements AsyncIterable<History<N>> {
  readonly #read: (cursor: string | undefined) => Promise<History<N>>;
  /** Of the next page; null after the last one. */
  #cursor: string | null | undefined;
  /** The rows of the last page that `rows()` has not delivered yet. */
  #rest: IterableIterator<History<N>['rates'][number]> = [].values();

  constructor(read: (cursor: string | undefined) => Promise<History<N>>) {
    this.#read = read;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<History<N>, void, undefined> {
    while (this.#cursor !== null) {
      const page = await this.#read(this.#cursor);
      this.#cursor = page.next;
      yield page;
    }
  }

  /** The rows of all pages. A loop that ends early can be continued with another one. */
  async *rows(): AsyncGenerator<History<N>['rates'][number], void, undefined> {
    yield* this.#rest;
    for await (const page of this) {
      this.#rest = page.rates.values();
      yield* this.#rest;
    }
  }
}
