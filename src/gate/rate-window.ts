/**
 * A fixed-window rate limit. The window opens with the first event, so a burst is cut off at exactly the limit; the next
 * event after its end opens a new one.
 */
export class RateWindow {
  #openedAt = Number.NEGATIVE_INFINITY;
  #count = 0;

  /** Counts one event if the limit allows it. */
  take(now: number, limit: number, windowMs: number): boolean {
    if (now - this.#openedAt >= windowMs || now < this.#openedAt) {
      this.#openedAt = now;
      this.#count = 0;
    }
    if (this.#count >= limit) return false;
    this.#count++;
    return true;
  }

  /** The time until the window ends, in ms. */
  endsIn(now: number, windowMs: number): number {
    return Math.max(0, this.#openedAt + windowMs - now);
  }

  isFull(now: number, limit: number, windowMs: number): boolean {
    return this.#count >= limit && now - this.#openedAt < windowMs && now >= this.#openedAt;
  }
}
