/** An item; `order` breaks ties between equal times. */
interface Entry<T> {
  time: number;
  order: number;
  item: T;
}

/** The front of the run is freed once it has this many taken items, and they are half of the run. */
const TAKEN_MAX = 256;

/**
 * A priority queue by time, first in, first out among equal times. Items that arrive in order of time, as most do, are
 * appended to a sorted run; the others go to a binary heap. Adding and taking are O(1) for the run, O(log n) for the heap.
 */
export class DueQueue<T extends object> {
  readonly #timeOf: (item: T) => number;
  #added = 0;
  #run: (Entry<T> | undefined)[] = [];
  /** The index of the first entry of the run that was not taken. */
  #first = 0;
  readonly #heap: Entry<T>[] = [];

  constructor(timeOf: (item: T) => number) {
    this.#timeOf = timeOf;
  }

  /** When the first item is due; Infinity when the queue is empty. */
  get dueAt(): number {
    return this.#next()?.time ?? Number.POSITIVE_INFINITY;
  }

  add(item: T): void {
    const entry = { time: this.#timeOf(item), order: this.#added++, item };
    const last = this.#run.at(-1);
    if (!last || last.time <= entry.time) this.#run.push(entry);
    else this.#siftUp(entry);
  }

  /** Removes and returns the first item, if it is due by `time`. */
  take(time: number): T | undefined {
    const next = this.#next();
    if (!next || next.time > time) return undefined;
    if (next === this.#heap[0]) this.#removeTop();
    else this.#removeFirst();
    return next.item;
  }

  #next(): Entry<T> | undefined {
    const first = this.#run[this.#first];
    const top = this.#heap[0];
    if (!first || !top) return first ?? top;
    return isBefore(top, first) ? top : first;
  }

  #removeFirst(): void {
    this.#run[this.#first++] = undefined;
    if (this.#first === this.#run.length || (this.#first > TAKEN_MAX && this.#first * 2 > this.#run.length)) {
      this.#run = this.#run.slice(this.#first);
      this.#first = 0;
    }
  }

  #siftUp(entry: Entry<T>): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(entry, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = entry;
  }

  #removeTop(): void {
    const heap = this.#heap;
    const entry = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, entry)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = entry;
  }
}

function isBefore<T>(a: Entry<T>, b: Entry<T>): boolean {
  return a.time < b.time || (a.time === b.time && a.order < b.order);
}
