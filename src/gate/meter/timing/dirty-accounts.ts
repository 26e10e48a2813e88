/** Enough that those of one range are few, and that a second takes about one of a minute. */
const RANGES = 64;
const SAMPLES_PER_RANGE = 16;

/**
 * The accounts whose counts have changed since they were last reported. Their ids are divided into ranges, which are reported
 * one after the other, all of them once per interval. Accounts of a range share the pages of the ledger's tables, so a report of
 * many writes few pages, in whatever order their requests arrive. And many accounts are not reported in one burst: their
 * requests would wait for it.
 */
export class DirtyAccounts<T extends { readonly accountId: string }> {
  readonly #flushMs: number;
  /** All accounts, by id. */
  readonly #known: ReadonlyMap<string, unknown>;
  /** Those of the time since the last call of `takeDue`. */
  #newest: T[] = [];
  readonly #ranges: T[][] = Array.from({ length: RANGES }, () => []);
  /** The first id of each range but the first. */
  #bounds: string[] = [];
  /** How many accounts were known when the bounds were chosen. */
  #boundsCount = 0;
  /** The index of the range that is reported next, and the part of it that the time since the last call was enough for. */
  #position = 0;
  #takenAt = Number.NEGATIVE_INFINITY;

  /** An account is due early enough that no count is older than `flushMs`. */
  constructor(flushMs: number, known: ReadonlyMap<string, unknown>) {
    this.#flushMs = flushMs;
    this.#known = known;
  }

  add(account: T): void {
    this.#newest.push(account);
  }

  /** Takes the accounts that are due, sorted by id. Called about once a second. */
  takeDue(mono: number): T[] {
    const everyMs = mono - this.#takenAt;
    this.#takenAt = mono;
    if (this.#known.size > 2 * this.#boundsCount) this.#chooseBounds();
    for (const account of this.#newest) this.#ranges[this.#rangeOf(account.accountId)]!.push(account);
    this.#newest = [];
    // The ranges come round in the interval less the time until the next call.
    const share = everyMs < this.#flushMs ? everyMs / (this.#flushMs - everyMs) : 1;
    const end = this.#position + RANGES * Math.min(share, 1);
    const due: T[][] = [];
    for (let i = Math.floor(this.#position); i < Math.floor(end); i++) {
      due.push(this.#ranges[i % RANGES]!);
      this.#ranges[i % RANGES] = [];
    }
    this.#position = end % RANGES;
    if (end >= RANGES) this.#chooseBounds();
    return due.flat().sort((a, b) => (a.accountId < b.accountId ? -1 : 1));
  }

  /** Ranges of about equally many accounts. Those that wait stay in their range, or they might wait for a second round. */
  #chooseBounds(): void {
    this.#boundsCount = this.#known.size;
    const step = Math.ceil(this.#boundsCount / (RANGES * SAMPLES_PER_RANGE));
    const sample: string[] = [];
    let i = 0;
    for (const id of this.#known.keys()) if (i++ % step === 0) sample.push(id);
    sample.sort();
    this.#bounds = Array.from(
      { length: sample.length > 0 ? RANGES - 1 : 0 },
      (_, range) => sample[Math.floor(((range + 1) * sample.length) / RANGES)]!,
    );
  }

  #rangeOf(id: string): number {
    let [low, high] = [0, this.#bounds.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#bounds[middle]! <= id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
