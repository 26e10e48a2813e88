import type { Clock } from '../../runtime/clock.ts';

/** A smaller step is how a clock reads, or how it is kept right, and no plan can tell. */
const STEP_MS = 10;

/** From `since` on, by the monotonic clock, the wall clock was so far ahead of it. */
interface Step {
  since: number;
  ahead: number;
}

/**
 * Keeps a plan's delay from getting shorter when somebody sets the wall clock forward. Prices carry the wall clock's
 * time, so a view that is an hour behind would show, a moment after such a step, what came in a moment before.
 *
 *     wall clock less monotonic clock
 *                  ┌───────────── now
 *         ─────────┘
 *              ├── the last d ──┤     the least within it counts: a view of delay d goes on by the old time
 *                                     until all of its d lies after the step
 *
 * So what was stamped at some moment shows no sooner than d after it, by the clock that nobody can set. A step back, a
 * pause of the process and a sleep of the machine make a delay longer, for as long as the delay is, and never shorter.
 */
export class ClockSteps {
  readonly #clock: Clock;
  /** The oldest first; the last one is now. */
  readonly #steps: [Step, ...Step[]];

  constructor(clock: Clock) {
    this.#clock = clock;
    const elapsed = this.#elapsed();
    this.#steps = [{ since: elapsed, ahead: clock.now() - elapsed }];
  }

  /** Looks at the clocks. Answers whether the wall clock was set since the last look, or a step is still remembered. */
  look(delayMsMax: number): boolean {
    const elapsed = this.#elapsed();
    const ahead = this.#clock.now() - elapsed;
    const steps = this.#steps;
    const isSet = Math.abs(ahead - steps.at(-1)!.ahead) >= STEP_MS;
    if (isSet) steps.push({ since: elapsed, ahead });
    const wasKnown = steps.length > 1;
    while (steps.length > 1 && steps[1]!.since <= elapsed - delayMsMax) steps.shift();
    return wasKnown;
  }

  /** How far a view of some delay stays behind the wall clock. */
  behind(delayMs: number): number {
    const steps = this.#steps;
    if (steps.length === 1) return delayMs;
    const from = this.#elapsed() - delayMs;
    const now = steps.at(-1)!.ahead;
    let least = now;
    for (const [i, { ahead }] of steps.entries()) {
      const lastedUntil = steps[i + 1]?.since ?? Number.POSITIVE_INFINITY;
      if (lastedUntil > from) least = Math.min(least, ahead);
    }
    return delayMs + now - least;
  }

  #elapsed(): number {
    return this.#clock.elapsed?.() ?? this.#clock.now();
  }
}
