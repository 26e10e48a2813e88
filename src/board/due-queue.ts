/** So many that were taken may stand in front, and half of all: then they are let go of together. */
const TAKEN_MAX = 256;

/** Things that wait for their time, taken from the front when it comes. Nearly all are added at the end. */
export class DueQueue<T extends object> {
  readonly #timeOf: (item: T) => number;
  #items: (T | undefined)[] = [];
  /** Those before it were taken. */
  #first = 0;

  constructor(timeOf: (item: T) => number) {
    this.#timeOf = timeOf;
  }

  /** When the first is due; Infinity when none waits. */
  get dueAt(): number {
    const first = this.#items[this.#first];
    return first ? this.#timeOf(first) : Number.POSITIVE_INFINITY;
  }

  add(item: T): void {
    const items = this.#items;
    const time = this.#timeOf(item);
    let index = items.length;
    while (index > this.#first && this.#timeOf(items[index - 1]!) > time) index--;
    if (index === items.length) items.push(item);
    else items.splice(index, 0, item);
  }

  /** The first, if it is due by then. */
  take(time: number): T | undefined {
    const first = this.#items[this.#first];
    if (!first || this.#timeOf(first) > time) return undefined;
    this.#items[this.#first++] = undefined;
    if (this.#first > TAKEN_MAX && this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return first;
  }
}
