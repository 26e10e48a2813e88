/** A machine that others use stands still now and then. Our own jobs delay a timer by less. */
export const STALL_MS = 500;
const TICK_MS = 100;

/** Notices when the machine stands still: tests with time limits then fail through no fault of the program. */
export class StallMonitor {
  readonly #now: () => number;
  readonly #stalls: { endedAt: number; ms: number }[] = [];
  #dueAt: number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#dueAt = now() + TICK_MS;
  }

  /** Looks at the clock ten times a second, until `stop` is called. */
  start(): { stop(): void } {
    const timer = setInterval(() => this.tick(), TICK_MS);
    return { stop: () => clearInterval(timer) };
  }

  tick(): void {
    const now = this.#now();
    const ms = now - this.#dueAt;
    if (ms >= STALL_MS) this.#stalls.push({ endedAt: now, ms });
    this.#dueAt = now + TICK_MS;
  }

  /** The longest stall since a moment, in ms; 0 if there was none. */
  longestSince(moment: number): number {
    return Math.max(0, ...this.#stalls.filter(({ endedAt }) => endedAt > moment).map(({ ms }) => ms));
  }
}
