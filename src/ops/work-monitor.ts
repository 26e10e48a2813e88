import type { Clock } from '../runtime/clock.ts';

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
  #succeededAt: number;
  #failing: { since: number; reason: string } | undefined;
  #isStarted = false;

  constructor(clock: Clock, limits: WorkLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#succeededAt = this.#elapsed();
  }

  /** Starts to expect results. */
  start(): void {
    this.#isStarted = true;
    this.succeeded();
  }

  succeeded(): void {
    this.#succeededAt = this.#elapsed();
    this.#failing = undefined;
  }

  failed(reason: string): void {
    this.#failing = { since: this.#failing?.since ?? this.#elapsed(), reason };
  }

  /** Grants the work its full time again, for example after a ledger outage. */
  restart(): void {
    if (this.#failing) this.#failing.since = this.#elapsed();
    this.#succeededAt = this.#elapsed();
  }

  get fault(): OngoingFault | undefined {
    if (!this.#isStarted) return undefined;
    const now = this.#elapsed();
    const at = (elapsed: number) => Math.round(this.#clock.now() - (now - elapsed));
    const failing = this.#failing;
    if (failing && now - failing.since >= this.#limits.failingMs) {
      return { since: at(failing.since), reason: failing.reason };
    }
    if (now - this.#succeededAt < this.#limits.silentMs) return undefined;
    return { since: at(this.#succeededAt), reason: failing?.reason ?? 'it does not finish' };
  }

  #elapsed(): number {
    return this.#clock.elapsed?.() ?? this.#clock.now();
  }
}
