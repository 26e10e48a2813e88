import type { LedgerTick } from '../../ledger/ticks/tick.ts';
import { tickSeenFrom } from '../../market/visibility.ts';

const TICKS_PER_PAGE = 256;
/** Doubled until the page has its size: most of thousands of symbols have few ticks. */
const FIRST_TICKS = 16;
/** `at, received, price, day, source, revision` of each tick. */
const PER_TICK = 6;

interface Page {
  numbers: Float64Array;
  /** The id of each tick, while the page fills up. */
  ids: string[];
  /** Of a full page: all ids as one string, the start of each, and the end of the last. */
  allIds: string;
  starts: Uint32Array | undefined;
}

/**
 * The ticks of a history that some view must not show yet, in the order in which they become visible. Thousands may arrive
 * in a second and wait for an hour, so they are stored as numbers: 130 bytes each, measured, instead of 400 as objects.
 *
 *     number   0 … 255     256 … 511     512 …
 *     pages    discarded   [ . . . . ]   [ . . free ]
 *                                ▲ 60 min    ▲ 10 min   ▲ now      next tick of each view
 */
export class TickLog {
  readonly #symbolId: number;
  #pages: Page[] = [];
  /** The number of the first page's first tick. */
  #first = 0;
  #lastSeenFrom = Number.NEGATIVE_INFINITY;
  /** The number of the next tick. */
  end = 0;

  constructor(symbolId: number) {
    this.#symbolId = symbolId;
  }

  /** Returns false for a tick that becomes visible before the last one: it does not fit here. */
  add(tick: LedgerTick): boolean {
    const seenFrom = tickSeenFrom(tick);
    if (seenFrom < this.#lastSeenFrom) return false;
    this.#lastSeenFrom = seenFrom;
    const place = this.end % TICKS_PER_PAGE;
    if (place === 0) {
      const numbers = new Float64Array(FIRST_TICKS * PER_TICK);
      this.#pages.push({ numbers, ids: [], allIds: '', starts: undefined });
    }
    const page = this.#pages.at(-1)!;
    let to = place * PER_TICK;
    if (to === page.numbers.length) page.numbers = twiceAsLong(page.numbers);
    const { numbers } = page;
    numbers[to++] = tick.at;
    numbers[to++] = tick.received;
    numbers[to++] = tick.price;
    numbers[to++] = tick.day;
    numbers[to++] = tick.sourceId;
    numbers[to] = tick.revision;
    page.ids.push(tick.id);
    if (place === TICKS_PER_PAGE - 1) joinIds(page);
    this.end++;
    return true;
  }

  /** When a tick becomes visible; Infinity if there is none with this number yet. */
  seenFrom(number: number): number {
    if (number >= this.end) return Number.POSITIVE_INFINITY;
    const { numbers } = this.#page(number);
    const from = (number % TICKS_PER_PAGE) * PER_TICK;
    return Math.max(numbers[from]!, numbers[from + 1]!);
  }

  tick(number: number): LedgerTick {
    const { numbers, ids, allIds, starts } = this.#page(number);
    const place = number % TICKS_PER_PAGE;
    const from = place * PER_TICK;
    return {
      symbolId: this.#symbolId,
      at: numbers[from]!,
      received: numbers[from + 1]!,
      price: numbers[from + 2]!,
      day: numbers[from + 3]!,
      sourceId: numbers[from + 4]!,
      revision: numbers[from + 5]!,
      id: starts ? allIds.slice(starts[place], starts[place + 1]) : ids[place]!,
    };
  }

  /** Discards pages of ticks before `number`. */
  discardBefore(number: number): void {
    const pages = Math.floor((number - this.#first) / TICKS_PER_PAGE);
    if (pages === 0) return;
    this.#pages.splice(0, pages);
    this.#first += pages * TICKS_PER_PAGE;
  }

  #page(number: number): Page {
    return this.#pages[Math.floor((number - this.#first) / TICKS_PER_PAGE)]!;
  }
}

function twiceAsLong(numbers: Float64Array): Float64Array {
  const longer = new Float64Array(numbers.length * 2);
  longer.set(numbers);
  return longer;
}

function joinIds(page: Page): void {
  const starts = new Uint32Array(TICKS_PER_PAGE + 1);
  for (const [i, id] of page.ids.entries()) starts[i + 1] = starts[i]! + id.length;
  page.allIds = page.ids.join('');
  page.starts = starts;
  page.ids = [];
}
