import { BoundedCache } from './bounded-cache.ts';

/** Measured overhead of a page besides its text and offsets. It counts from the first request for the page on. */
const PAGE_BYTES = 400;
/** Measured overhead of an owner without pages. */
const PAGES_BYTES = 400;
/** Until the service sets its own limit. */
const BYTES_MAX_DEFAULT = 64 * 1024 * 1024;
/** A full cache evicts at most this often to admit new pages: rendering a page costs more than it saves once. */
const EVICT_EVERY_MS = 100;

/** Where texts are copied to. */
export interface TextTarget {
  copy(bytes: Uint8Array, from: number, to: number): void;
}

/** The text of consecutive rows. */
export interface TextPage {
  bytes: Uint8Array;
  /** Where each row begins, and where the last one ends. A row without text begins where the next one does. */
  starts: Uint32Array;
}

/** Renders a page by its number. */
export type RenderPage = (number: number) => TextPage;

/** Pages by their owner. All owners share one memory limit; when it is reached, the oldest owner loses its pages. */
export class TextPageCache<K> extends BoundedCache<K, TextPages<K>> {
  #evictedAt = Number.NEGATIVE_INFINITY;

  constructor() {
    super({ bytesMax: BYTES_MAX_DEFAULT, admitsOnSecondUse: true, onEvict: (pages) => pages.drop() });
  }

  /** Whether there is room for one more page, if need be by evicting an owner. */
  admitsPage(): boolean {
    if (!this.isNearlyFull) return true;
    const now = performance.now();
    if (now - this.#evictedAt < EVICT_EVERY_MS) return false;
    this.#evictedAt = now;
    this.evictOldest();
    return !this.isNearlyFull;
  }
}

/**
 * Rows of rendered text, in pages of consecutive rows that are rendered once:
 *
 *     pages  [ ,"2024-05-14":{"XAU":{…} ,"2024-05-15":{"XAU":{…} … ] [ … ] [  not rendered  ] …
 *              ▲ starts                 ▲                       ▲
 *
 * A row is a bar of one symbol (by its index in the history), or a day of several symbols (by its date).
 */
export class TextPages<K> {
  readonly #cache: TextPageCache<K>;
  readonly #key: K;
  /** A power of two. */
  readonly #rowsPerPage: number;
  readonly #shift: number;
  /** By number; undefined for a page that was requested once and not rendered. */
  readonly #pages = new Map<number, TextPage | undefined>();
  /** The page that was used last: neighbouring rows are mostly copied in sequence. */
  #lastNumber = Number.NaN;
  #lastPage: TextPage | undefined;
  /** Of the sources that the pages were rendered from. */
  #versions: readonly number[] = [];

  constructor(cache: TextPageCache<K>, key: K, rowsPerPage: number) {
    this.#cache = cache;
    this.#key = key;
    this.#rowsPerPage = rowsPerPage;
    this.#shift = Math.log2(rowsPerPage);
  }

  /** Copies one row without its first `skip` characters. Its page is rendered if it is missing or ends before the row. */
  copyRow(row: number, skip: number, target: TextTarget, render: RenderPage): void {
    const number = row >> this.#shift;
    const place = row & (this.#rowsPerPage - 1);
    let page = number === this.#lastNumber ? this.#lastPage : this.#pages.get(number);
    if (!page || page.starts.length <= place + 1) page = this.#render(number, render);
    this.#lastNumber = number;
    this.#lastPage = page;
    target.copy(page.bytes, page.starts[place]! + skip, page.starts[place + 1]!);
  }

  /** The page with a row. It is rendered if it is missing or ends before the row, and cached if there is room. */
  pageWith(row: number, render: RenderPage): TextPage {
    const number = row >> this.#shift;
    if (this.#hasRow(row)) return this.#pages.get(number)!;
    return this.#cache.admitsPage() ? this.#render(number, render) : render(number);
  }

  /** Whether the pages with the rows from `first` to `last` are rendered. */
  hasRows(first: number, last: number): boolean {
    if (last < first) return true;
    const [firstPage, lastPage] = [first >> this.#shift, last >> this.#shift];
    return this.#hasPages(firstPage, lastPage) && this.#hasRow(last);
  }

  #hasRow(row: number): boolean {
    const page = this.#pages.get(row >> this.#shift);
    return page !== undefined && page.starts.length > (row & (this.#rowsPerPage - 1)) + 1;
  }

  /**
   * Copies the rows from `first` to `last`, or nothing if one of their pages is not rendered. A page is rendered on its
   * second request.
   */
  copyRows(first: number, last: number, target: TextTarget, render: RenderPage): boolean {
    const rows = this.#rowsPerPage;
    const [firstPage, lastPage] = [first >> this.#shift, last >> this.#shift];
    let areReady = true;
    for (let number = firstPage; number <= lastPage; number++) {
      if (!this.#pages.get(number) && !this.#renderOnSecondRequest(number, render)) areReady = false;
    }
    if (!areReady || !this.#hasPages(firstPage, lastPage)) return false;
    for (let number = firstPage; number <= lastPage; number++) {
      const { bytes, starts } = this.#pages.get(number)!;
      const from = number === firstPage ? first - number * rows : 0;
      const to = number === lastPage ? last - number * rows + 1 : rows;
      target.copy(bytes, starts[from]!, starts[to]!);
    }
    return true;
  }

  /** Deletes the pages if they were rendered from other versions of their sources. */
  requireVersions(versions: readonly number[]): void {
    const own = this.#versions;
    if (own.length === versions.length && own.every((version, i) => version === versions[i])) return;
    this.clear();
    this.#versions = versions;
  }

  /** Deletes all pages, because a row has changed. */
  clear(): void {
    this.drop();
    this.#cache.delete(this.#key);
  }

  /** Deletes all pages without accounting for them: for the cache, which has evicted them. */
  drop(): void {
    this.#pages.clear();
    this.#lastNumber = Number.NaN;
    this.#lastPage = undefined;
  }

  /** Rendering one page can evict the others. */
  #hasPages(first: number, last: number): boolean {
    for (let number = first; number <= last; number++) if (!this.#pages.get(number)) return false;
    return true;
  }

  #renderOnSecondRequest(number: number, render: RenderPage): boolean {
    if (!this.#cache.admitsPage()) return false;
    if (this.#pages.has(number)) {
      this.#render(number, render);
      return true;
    }
    this.#pages.set(number, undefined);
    this.#account(PAGE_BYTES);
    return false;
  }

  #render(number: number, render: RenderPage): TextPage {
    const page = render(number);
    const replaced = this.#pages.get(number);
    const isCounted = this.#pages.has(number);
    this.#pages.set(number, page);
    this.#account(sizeOf(page) - (replaced ? sizeOf(replaced) : 0) + (isCounted ? 0 : PAGE_BYTES));
    return page;
  }

  /** If the pages of one owner exceed the limit, they are dropped at once; the caller holds the page that it needs. */
  #account(bytes: number): void {
    if (this.#cache.has(this.#key)) this.#cache.grow(this.#key, bytes);
    else if (!this.#cache.set(this.#key, this, PAGES_BYTES + bytes)) this.drop();
  }
}

function sizeOf({ bytes, starts }: TextPage): number {
  return bytes.length + starts.byteLength;
}
