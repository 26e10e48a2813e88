/** Far more than the longest correct run needs. */
const EVENTS_MAX = 5_000_000;
/** How many events a transaction counts as. */
const EVENTS_PER_WORK = 20;

interface Event {
  at: number;
  order: number;
  call: (() => void) | undefined;
}

/** Virtual time with scheduled events. It waits for all started work between two events, so a run depends only on its seed. */
export class VirtualTime {
  now: number;
  readonly #heap: Event[] = [];
  readonly #working = new Set<Promise<unknown>>();
  #order = 0;
  #events = 0;
  #failure: unknown;

  constructor(start: number) {
    this.now = start;
  }

  /** Schedules a call. Returns a function that cancels it. */
  after(ms: number, call: () => void): () => void {
    const event: Event = { at: this.now + Math.max(0, ms), order: this.#order++, call };
    push(this.#heap, event);
    return () => {
      event.call = undefined;
    };
  }

  /** Registers real work, such as a transaction: time stops until it is done. */
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
      if (++this.#events > EVENTS_MAX) throw new Error('the run does not end');
      event.call();
      await this.#settle();
    }
    this.now = end;
  }

  /** Runs until the promise settles, for at most a minute of virtual time. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let isDone = false;
    const done = promise.finally(() => {
      isDone = true;
    });
    done.catch(() => {});
    await this.#settle();
    for (let i = 0; i < 6_000 && !isDone; i++) await this.runFor(10);
    if (!isDone) throw new Error('the promise never settled');
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
