import type { SettledRange } from '../../board/views/prices.ts';
import type { Day } from '../../market/day.ts';
import { BoundedCache } from '../../runtime/bounded-cache.ts';
import { ByteWriter } from '../model/byte-writer.ts';
import { SettledLines, writeByDay } from './rate-lines.ts';

const DAYS_PER_PAGE = 32;
/** What a page takes beside its text, measured, and counted from the first asking on: a symbol set may ask for a century. */
const PAGE_BYTES = 400;
/** What the lines of a symbol set take without a page. */
const LINES_BYTES = 400;
/** Until the service sets its own limit. */
const BYTES_MAX_DEFAULT = 64 * 1024 * 1024;
/** When the cache is full, a symbol set's pages are evicted at most this often: making them costs more than they save once. */
const EVICT_EVERY_MS = 100;

interface Page {
  bytes: Uint8Array;
  /** Where the line of each day begins, and where the last one ends. Days without a line begin where the next one does. */
  starts: Uint32Array;
}

/**
 * The days of a symbol set as time series write them, in pages of consecutive days that are written once:
 *
 *     [ ,"2024-05-14":{"XAU":{…},"XAG":{…}} ,"2024-05-15":{…} … ] [ … ]
 *       ▲ starts                             ▲
 *
 * So any range of days is a copy or two. A page is made when it is asked for the second time. They are good until one of
 * the histories that they come from changes.
 */
export class DayLines {
  /** By number; undefined for one that was asked for once. */
  #pages = new Map<number, Page | undefined>();
  /** Of the histories: those themselves would stay in memory after the board has evicted them. */
  #versions: number[] = [];
  /** Of all symbol sets of the process. */
  static readonly cache = new BoundedCache<DayLines, DayLines>({
    bytesMax: BYTES_MAX_DEFAULT,
    onEvict: (lines) => lines.#pages.clear(),
  });
  static #evictedAt = Number.NEGATIVE_INFINITY;

  /** Writes the lines from `first` to `last`, or nothing when they are not ready. `settled` is where they lie, for each code. */
  write(
    writer: ByteWriter,
    codes: readonly string[],
    settled: readonly SettledRange[],
    first: Day,
    last: Day,
  ): boolean {
    if (!this.#isGood(settled)) this.#beginAnew(settled);
    const [firstPage, lastPage] = [Math.floor(first / DAYS_PER_PAGE), Math.floor(last / DAYS_PER_PAGE)];
    let isReady = true;
    for (let number = firstPage; number <= lastPage; number++) {
      if (!this.#pages.get(number) && !this.#make(number, codes, settled)) isReady = false;
    }
    if (!isReady || !this.#hasPages(firstPage, lastPage)) return false;
    for (let number = firstPage; number <= lastPage; number++) {
      const { bytes, starts } = this.#pages.get(number)!;
      const from = number === firstPage ? first - number * DAYS_PER_PAGE : 0;
      const to = number === lastPage ? last - number * DAYS_PER_PAGE + 1 : DAYS_PER_PAGE;
      writer.copy(bytes, starts[from]!, starts[to]!);
    }
    return true;
  }

  forget(): void {
    this.#pages.clear();
    DayLines.cache.delete(this);
  }

  /** Making one page can evict the others. */
  #hasPages(first: number, last: number): boolean {
    for (let number = first; number <= last; number++) if (!this.#pages.get(number)) return false;
    return true;
  }

  #isGood(settled: readonly SettledRange[]): boolean {
    if (this.#versions.length === 0) return false;
    for (let i = 0; i < settled.length; i++) {
      if (this.#versions[i] !== settled[i]!.columns.version) return false;
    }
    return true;
  }

  #beginAnew(settled: readonly SettledRange[]): void {
    this.forget();
    this.#versions = settled.map(({ columns }) => columns.version);
  }

  /** False when it is not worth it yet, or there is no room. */
  #make(number: number, codes: readonly string[], settled: readonly SettledRange[]): boolean {
    if (DayLines.cache.isNearlyFull && !DayLines.#makeRoom()) return false;
    if (!this.#pages.has(number)) {
      this.#pages.set(number, undefined);
      this.#count(PAGE_BYTES);
      return false;
    }
    const first = number * DAYS_PER_PAGE;
    const lines = settled.map(({ columns }, i) => {
      const [from, to] = [columns.firstFrom(first), columns.firstFrom(first + DAYS_PER_PAGE)];
      return new SettledLines(codes[i]!, { columns, from, to });
    });
    const starts = new Uint32Array(DAYS_PER_PAGE + 1);
    let next = 0;
    scratch.clear();
    writeByDay(scratch, lines, (day) => {
      while (next <= day - first) starts[next++] = scratch.length;
    });
    starts.fill(scratch.length, next);
    const bytes = scratch.bytes();
    this.#pages.set(number, { bytes, starts });
    this.#count(bytes.length);
    return true;
  }

  #count(bytes: number): void {
    const { cache } = DayLines;
    if (cache.has(this)) cache.grow(this, bytes);
    else if (!cache.set(this, this, LINES_BYTES + bytes)) this.#pages.clear();
  }

  static #makeRoom(): boolean {
    const now = performance.now();
    if (now - DayLines.#evictedAt < EVICT_EVERY_MS) return false;
    DayLines.#evictedAt = now;
    DayLines.cache.evictOldest();
    return !DayLines.cache.isNearlyFull;
  }
}

const scratch = new ByteWriter();
