/** Records which branches instrumented code takes, and how often, in powers of two: more iterations of a loop count as new coverage. */
export class Coverage {
  readonly #hits: Uint32Array;
  readonly #seen: Uint8Array;
  #touched: number[] = [];
  size = 0;

  constructor(points: number) {
    this.#hits = new Uint32Array(points * 2);
    this.#seen = new Uint8Array(points * 2 * 33);
  }

  hit<T>(point: number, value: T): T {
    const branch = point * 2 + (value ? 1 : 0);
    if (this.#hits[branch]!++ === 0) this.#touched.push(branch);
    return value;
  }

  /** Whether something new was hit since the last call. */
  take(): boolean {
    const before = this.size;
    for (const branch of this.#touched) {
      const often = branch * 33 + 32 - Math.clz32(this.#hits[branch]!);
      this.#hits[branch] = 0;
      if (this.#seen[often]) continue;
      this.#seen[often] = 1;
      this.size++;
    }
    this.#touched = [];
    return this.size > before;
  }
}
