import { type Period, periodEnd, periodOf } from '../../../ledger/quota/period.ts';
import type { Clock } from '../../../runtime/clock.ts';

/** Both clocks at one moment, in ms. The monotonic one stops while a virtual machine sleeps; the wall clock may be set. */
export interface ClockReading {
  wall: number;
  mono: number;
}

/** The ledger's time, which decides the month: a wrong local clock cannot move it. */
export class LedgerTime {
  readonly #clock: Clock;
  readonly #monotonic: Clock;
  /** The ledger's time minus the monotonic clock. */
  #aheadMs = 0;
  /** The last time read from the ledger, in ms since the epoch. */
  observed = 0;

  constructor(clock: Clock, monotonic: Clock) {
    this.#clock = clock;
    this.#monotonic = monotonic;
  }

  /** The local clocks. */
  read(): ClockReading {
    return { wall: this.#clock.now(), mono: this.#monotonic.now() };
  }

  /** Takes over the time that the ledger answered to a call sent at `sent`. */
  observe(ledgerNow: number, sent: ClockReading): void {
    this.#aheadMs = ledgerNow - sent.mono;
    this.observed = ledgerNow;
  }

  /** The ledger's time, in ms since the epoch: later than the real one by the time that the last call took to arrive. */
  now(): number {
    return this.#monotonic.now() + this.#aheadMs;
  }

  period(): Period {
    return periodOf(this.now());
  }

  /** When the quotas reset, in ms since the epoch. */
  resetAt(): number {
    return periodEnd(this.period());
  }

  secondsToReset(): number {
    return Math.max(1, Math.ceil((this.resetAt() - this.now()) / 1_000));
  }
}
