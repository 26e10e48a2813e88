/**
 * Whether the board has taken in every write that a client was told of. Until it has, its revision does not say how far a
 * standby must have come.
 */
export class KnownWrites {
  #confirmed = 0;
  #followed = 0;

  /** A client has been told that its write is in the ledger. */
  confirm(): void {
    this.#confirmed++;
  }

  /** Call it before the board follows the ledger, and what it returns afterwards. */
  beginFollowing(): () => void {
    const confirmed = this.#confirmed;
    return () => {
      this.#followed = confirmed;
    };
  }

  get areFollowed(): boolean {
    return this.#followed === this.#confirmed;
  }
}
