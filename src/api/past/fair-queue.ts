/** A queue with one lane for each account. Accounts take turns, however much each of them has waiting. */
export class FairQueue<T> {
  /** By account. The first lane has the next turn. */
  readonly #lanes = new Map<string, T[]>();

  push(account: string, item: T): void {
    this.#lanes.getOrInsertComputed(account, () => []).push(item);
  }

  /** The first item of the account whose turn it is. Accounts that are `busy` keep their turn. */
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
