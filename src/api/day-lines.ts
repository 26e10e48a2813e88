import type { Settled } from '../board/prices.ts';
import type { Day } from '../market/day.ts';
import { SettledLines, writeByDay } from './rate-lines.ts';
import { Sheet } from './sheet.ts';

/** A power of two. */
const DAYS_PER_PAGE = 32;
/** What a page takes beside its text, measured: a basket may ask for a century in which it has nothing. */
const PAGE_BYTES = 400;
/** Over all baskets. */
const BYTES_MAX = 64 * 1024 * 1024;

interface Page {
  bytes: Uint8Array;
  /** Where the line of each day begins, and where the last one ends. Days without a line begin where the next one does. */
  starts: Uint32Array;
}

/**
 * The days of a basket as time series write them, in pages of consecutive days that are written once:
 *
 *     [ ,"2024-05-14":{"XAU":{…},"XAG":{…}} ,"2024-05-15":{…} … ] [ … ]
 *       ▲ starts                             ▲
 *
 * So any range of days is a copy or two. They are good until one of the histories that they come from changes.
 */
export class DayLines {
  #pages = new Map<number, Page>();
  /** Of the histories: those themselves would stay in memory when the board has let go of them. */
  #versions: number[] = [];
  #bytes = 0;
  static readonly #keepers = new Set<DayLines>();
  static #total = 0;

  /** Writes the lines from `first` to `last`. `settled` is where they lie, for each code. */
  write(sheet: Sheet, codes: readonly string[], settled: readonly Settled[], first: Day, last: Day): void {
    if (!this.#isGood(settled)) this.#beginAnew(settled);
    for (let day = first; day <= last; ) {
      const place = day & (DAYS_PER_PAGE - 1);
      const number = (day - place) / DAYS_PER_PAGE;
      const page = this.#pages.get(number) ?? this.#make(number, codes, settled);
      const end = Math.min(last - day + place + 1, DAYS_PER_PAGE);
      sheet.copy(page.bytes, page.starts[place]!, page.starts[end]!);
      day += end - place;
    }
  }

  forget(): void {
    this.#pages.clear();
    DayLines.#total -= this.#bytes;
    this.#bytes = 0;
    DayLines.#keepers.delete(this);
  }

  #isGood(settled: readonly Settled[]): boolean {
    if (this.#versions.length === 0) return false;
    for (let i = 0; i < settled.length; i++) {
      if (this.#versions[i] !== settled[i]!.columns.version) return false;
    }
    return true;
  }

  #beginAnew(settled: readonly Settled[]): void {
    this.forget();
    this.#versions = settled.map(({ columns }) => columns.version);
  }

  #make(number: number, codes: readonly string[], settled: readonly Settled[]): Page {
    while (DayLines.#total >= BYTES_MAX) DayLines.#keepers.values().next().value!.forget();
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
    const { bytes } = scratch.take();
    const page = { bytes, starts };
    this.#pages.set(number, page);
    this.#bytes += bytes.length + PAGE_BYTES;
    DayLines.#total += bytes.length + PAGE_BYTES;
    DayLines.#keepers.add(this);
    return page;
  }
}

const scratch = new Sheet();
