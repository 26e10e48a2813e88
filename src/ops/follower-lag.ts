import type { Clock } from '../runtime/clock.ts';

/** How old the prices, plans and keys are that this process serves: the time since it last began to catch up, and did. */
export class FollowerLag {
  readonly #clock: Clock;
  #currentAsOf: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#currentAsOf = this.#elapsed();
  }

  /** Called before the ledger is read; what it returns, when everything has been taken over. */
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
