/** The accounts whose counts have changed since they were last reported, in the order in which they are due. */
export class DirtyAccounts<T> {
  readonly #flushMs: number;
  /** Those of the time since the last call of `takeDue`. */
  #newest: T[] = [];
  #newestSince = Number.NEGATIVE_INFINITY;
  /** Those of earlier calls, the oldest first. */
  #older: { since: number; accounts: T[] }[] = [];

  /** An account is due early enough that no count is older than `flushMs` at the call after that. */
  constructor(flushMs: number) {
    this.#flushMs = flushMs;
  }

  add(account: T): void {
    this.#newest.push(account);
  }

  /**
   * Takes the accounts that are due. Called about once a second, so that many accounts are not reported in one burst: their
   * requests would wait for it.
   */
  takeDue(mono: number): T[] {
    const everyMs = mono - this.#newestSince;
    if (this.#newest.length > 0) this.#older.push({ since: this.#newestSince, accounts: this.#newest });
    this.#newest = [];
    this.#newestSince = mono;
    const due = this.#older.findIndex(({ since }) => mono + everyMs - since < this.#flushMs);
    return this.#older.splice(0, due < 0 ? this.#older.length : due).flatMap(({ accounts }) => accounts);
  }
}
