/**
 * A limit of so many events in a window of time. The window opens with the first event, so a burst is cut at exactly
 * the limit; when the window is over, the next event opens a new one.
 */
export class RateWindow {
  #opened = Number.NEGATIVE_INFINITY;
  #count = 0;

  /** Counts one event if the limit allows it. */
  take(now: number, limit: number, windowMs: number): boolean {
    if (now - this.#opened >= windowMs || now < this.#opened) {
      this.#opened = now;
      this.#count = 0;
    }
    if (this.#count >= limit) return false;
    this.#count++;
    return true;
  }

  /** How long the window is still open, in ms. */
  endsIn(now: number, windowMs: number): number {
    return Math.max(0, this.#opened + windowMs - now);
  }

  isFull(now: number, limit: number, windowMs: number): boolean {
    return this.#count >= limit && now - this.#opened < windowMs && now >= this.#opened;
  }
}
