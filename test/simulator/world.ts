/** A seeded source of chance: the same seed gives the same run. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e37_79b1) | 0;
  }

  /** Mulberry32: in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b_79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  int(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1));
  }

  happens(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.next() * from.length)]!;
  }
}

/** Far more than the longest sound run takes. */
const EVENTS_MAX = 500_000;
/** A transaction takes as long as so many events. */
const EVENTS_PER_WORK = 20;

interface Event {
  at: number;
  order: number;
  call: (() => void) | undefined;
}

/** Virtual time. Between two events everything that was started is waited for, so a run depends on nothing but its seed. */
export class World {
  now: number;
  readonly #heap: Event[] = [];
  readonly #working = new Set<Promise<unknown>>();
  #order = 0;
  #events = 0;
  #failure: unknown;

  constructor(start: number) {
    this.now = start;
  }

  /** Calls back after so many milliseconds; gives a function that calls it off. */
  after(ms: number, call: () => void): () => void {
    const event: Event = { at: this.now + Math.max(0, ms), order: this.#order++, call };
    push(this.#heap, event);
    return () => {
      event.call = undefined;
    };
  }

  /** Real work, such as a transaction: time stands still until it is done. */
  work(promise: Promise<unknown>): void {
    this.#events += EVENTS_PER_WORK;
    const done = promise.catch((error) => {
      this.#failure ??= error;
    });
    this.#working.add(done);
    done.then(() => this.#working.delete(done));
  }

  async runFor(ms: number): Promise<void> {
    const end = this.now + ms;
    while (this.#heap[0] && this.#heap[0].at <= end) {
      const event = pop(this.#heap);
      if (!event.call) continue;
      this.now = event.at;
      if (++this.#events > EVENTS_MAX) throw new Error('the run does not come to rest');
      event.call();
      await this.#settle();
    }
    this.now = end;
  }

  /** Runs until the promise is settled; a minute of the world's time at most. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let isDone = false;
    const done = promise.finally(() => {
      isDone = true;
    });
    done.catch(() => {});
    await this.#settle();
    for (let i = 0; i < 6_000 && !isDone; i++) await this.runFor(10);
    if (!isDone) throw new Error('something never ended');
    return done;
  }

  async #settle(): Promise<void> {
    do {
      await Promise.all(this.#working);
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.#working.size > 0);
    if (this.#failure) throw this.#failure;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: Event[], event: Event): void {
  let i = heap.push(event) - 1;
  while (i > 0) {
    const parent = (i - 1) >> 1;
    if (!isBefore(event, heap[parent]!)) break;
    heap[i] = heap[parent]!;
    i = parent;
  }
  heap[i] = event;
}

function pop(heap: Event[]): Event {
  const first = heap[0]!;
  const last = heap.pop()!;
  let i = 0;
  for (let child = 1; child < heap.length; child = 2 * i + 1) {
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
    if (!isBefore(heap[child]!, last)) break;
    heap[i] = heap[child]!;
    i = child;
  }
  if (heap.length > 0) heap[i] = last;
  return first;
}
