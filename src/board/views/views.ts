import type { Clock } from '../../runtime/clock.ts';
import { ClockSteps } from './clock-steps.ts';
import { View } from './view.ts';

/** The views of all plan delays, and how far each stays behind the wall clock. */
export class Views {
  readonly #steps: ClockSteps;
  /** By delay, ascending. */
  #views = new Map<number, View>();
  /** By the views' indexes. All series read it, so it changes in place; it is more than the delay after a step of the clock. */
  behind: number[] = [];

  constructor(clock: Clock) {
    this.#steps = new ClockSteps(clock);
  }

  get(delayMs: number): View | undefined {
    return this.#views.get(delayMs);
  }

  /** Makes views of these delays beside those that are there. Their indexes change: every series must be loaded anew. */
  add(delaysMs: readonly number[]): void {
    const sorted = [...new Set([...this.#views.keys(), ...delaysMs])].sort((a, b) => a - b);
    const views = sorted.map((delayMs, index) => {
      const view = this.#views.get(delayMs) ?? new View(delayMs, index);
      view.index = index;
      return [delayMs, view] as const;
    });
    this.#views = new Map(views);
    this.behind = sorted.map((delayMs) => this.#steps.behind(delayMs));
  }

  /** Before anything is shown that was not: whether the clock was set, and what that means for each view. */
  lookAtClock(): boolean {
    const delays = [...this.#views.keys()];
    const wasSet = this.#steps.look(delays.at(-1) ?? 0);
    if (wasSet) for (const [i, delayMs] of delays.entries()) this.behind[i] = this.#steps.behind(delayMs);
    return wasSet;
  }

  /** Moves the horizon of every view on to `now`. */
  moveTo(now: number): void {
    this.lookAtClock();
    for (const view of this.#views.values()) view.horizon = now - this.behind[view.index]!;
  }

  /** What came in by this moment, and no later, is what the view shows at `now`. */
  horizon(view: View, now: number): number {
    this.lookAtClock();
    return now - this.behind[view.index]!;
  }
}
