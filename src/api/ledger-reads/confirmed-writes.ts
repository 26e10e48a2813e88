/**
 * Tracks whether the board has caught up with every write that was confirmed to a client. Until it has, the board's
 * revision is too low a bound for what a standby must have replayed.
 */
export class ConfirmedWrites {
  #confirmed = 0;
  #followed = 0;

  /** Counts a write that was confirmed to its client. */
  confirm(): void {
    this.#confirmed++;
  }

  /** Call this before the board follows the ledger, and the returned function once it has. */
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
