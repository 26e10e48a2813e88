import { type Clock, elapsedMs } from '../../runtime/clock.ts';

/** Smaller steps come from clock resolution and NTP slewing, and do not matter to any plan. */
const STEP_MS = 10;

/** The wall clock's lead over the monotonic clock, from `since` (monotonic) on. */
interface Step {
  since: number;
  ahead: number;
}

/**
 * Keeps a plan's delay from getting shorter when somebody sets the wall clock forward. Prices carry wall-clock times, so
 * after a step of an hour, a view with a delay of an hour would show prices that have just arrived.
 *
 *     wall clock less monotonic clock
 *                  ┌───────────── now
 *         ─────────┘
 *              ├── the last d ──┤     the minimum in it counts: a view of delay d uses the old time
 *                                     until all of d lies after the step
 *
 * So a price becomes visible no sooner than d after its timestamp, by the monotonic clock. A step back, a paused process or
 * a suspended machine makes a delay longer, for at most d, and never shorter.
 */
export class ClockSteps {
  readonly #clock: Clock;
  /** Oldest first; the last one applies now. */
  readonly #steps: [Step, ...Step[]];

  constructor(clock: Clock) {
    this.#clock = clock;
    const elapsed = elapsedMs(this.#clock);
    this.#steps = [{ since: elapsed, ahead: clock.now() - elapsed }];
  }

  /** Reads both clocks. Returns whether the wall clock was set since the last check, or an earlier step still matters. */
  check(delayMsMax: number): boolean {
    const elapsed = elapsedMs(this.#clock);
    const ahead = this.#clock.now() - elapsed;
    const steps = this.#steps;
    const isSet = Math.abs(ahead - steps.at(-1)!.ahead) >= STEP_MS;
    if (isSet) steps.push({ since: elapsed, ahead });
    const wasKnown = steps.length > 1;
    while (steps.length > 1 && steps[1]!.since <= elapsed - delayMsMax) steps.shift();
    return wasKnown;
  }

  /** How far a view of this delay is behind the wall clock. */
  lagMs(delayMs: number): number {
    const steps = this.#steps;
    if (steps.length === 1) return delayMs;
    const from = elapsedMs(this.#clock) - delayMs;
    const now = steps.at(-1)!.ahead;
    let least = now;
    for (const [i, { ahead }] of steps.entries()) {
      const lastedUntil = steps[i + 1]?.since ?? Number.POSITIVE_INFINITY;
      if (lastedUntil > from) least = Math.min(least, ahead);
    }
    return delayMs + now - least;
  }
}
