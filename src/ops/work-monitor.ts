import { type Clock, elapsedMs } from '../runtime/clock.ts';

export interface OngoingFault {
  /** Milliseconds since the epoch. */
  since: number;
  reason: string;
}

export interface WorkLimits {
  /** How long work may fail before that is a fault. */
  failingMs: number;
  /** How long work may take to succeed once, without an error. */
  silentMs: number;
}

/** Monitors recurring work, and reports a fault when it has failed or not finished for too long. */
export class WorkMonitor {
  readonly #clock: Clock;
  readonly #limits: WorkLimits;
  /** The last success. `at` identifies a fault, so it is read once: two clocks drift against each other. */
  #success: { at: number; elapsed: number };
  #failing: { elapsed: number; reason: string } | undefined;
  #isStarted = false;

  constructor(clock: Clock, limits: WorkLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#success = this.#moment();
  }

  /** Starts to expect results. */
  start(): void {
    this.#isStarted = true;
    this.succeeded();
  }

  succeeded(): void {
    this.#success = this.#moment();
    this.#failing = undefined;
  }

  failed(reason: string): void {
    this.#failing = { elapsed: this.#failing?.elapsed ?? elapsedMs(this.#clock), reason };
  }

  /** Grants the work its full time again, for example after a ledger outage. */
  restart(): void {
    this.#success = this.#moment();
    if (this.#failing) this.#failing.elapsed = this.#success.elapsed;
  }

  /** The fault since the last success, if the work has failed or been silent for too long. */
  get fault(): OngoingFault | undefined {
    if (!this.#isStarted) return undefined;
    const { failingMs, silentMs } = this.#limits;
    const now = elapsedMs(this.#clock);
    const failing = this.#failing;
    const isFailing = failing !== undefined && now - failing.elapsed >= failingMs;
    if (!isFailing && now - this.#success.elapsed < silentMs) return undefined;
    return { since: this.#success.at, reason: failing?.reason ?? 'it does not finish' };
  }

  #moment() {
    return { at: this.#clock.now(), elapsed: elapsedMs(this.#clock) };
  }
}
