import type { Clock } from '../runtime/clock.ts';

/** The age of the prices, plans and keys that this process serves: the time since the start of its last complete update. */
export class FollowerLag {
  readonly #clock: Clock;
  #currentAsOf: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#currentAsOf = this.#elapsed();
  }

  /** Call it before the ledger is read, and the returned function once everything has been loaded. */
  begin(): () => void {
    const began = this.#elapsed();
    return () => {
      this.#currentAsOf = began;
    };
  }

  get seconds(): number {
    return Math.max(0, this.#elapsed() - this.#currentAsOf) / 1000;
  }

  #elapsed(): number {
    return this.#clock.elapsed?.() ?? this.#clock.now();
  }
}
