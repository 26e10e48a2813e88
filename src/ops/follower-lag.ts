import { type Clock, elapsedMs } from '../runtime/clock.ts';

/** The age of the prices, plans and keys that this process serves: the time since the start of its last complete update. */
export class FollowerLag {
  readonly #clock: Clock;
  #currentAsOf: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#currentAsOf = elapsedMs(this.#clock);
  }

  /** Call it before the ledger is read, and the returned function once everything has been loaded. */
  begin(): () => void {
    const began = elapsedMs(this.#clock);
    return () => {
      this.#currentAsOf = began;
    };
  }

  get seconds(): number {
    return Math.max(0, elapsedMs(this.#clock) - this.#currentAsOf) / 1000;
  }
}
