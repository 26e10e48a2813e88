/** A queue with one lane per account. Accounts take turns, however many items each has queued. */
export class FairQueue<T> {
  /** By account. The first lane has the next turn. */
  readonly #lanes = new Map<string, T[]>();

  push(account: string, item: T): void {
    this.#lanes.getOrInsertComputed(account, () => []).push(item);
  }

  /** Returns the first item of the account whose turn it is. Accounts that are `busy` are skipped and keep their turn. */
  shift(busy?: ReadonlySet<string>): T | undefined {
    for (const [account, lane] of this.#lanes) {
      if (busy?.has(account)) continue;
      this.#lanes.delete(account);
      const item = lane.shift();
      if (lane.length > 0) this.#lanes.set(account, lane);
      return item;
    }
    return undefined;
  }
}
