import type { Clock } from '../../runtime/clock.ts';
import { ClockSteps } from './clock-steps.ts';
import { View } from './view.ts';

/** The views of all plan delays, and how far each is behind the wall clock. */
export class Views {
  readonly #steps: ClockSteps;
  /** By delay, ascending. */
  #views = new Map<number, View>();
  /** By view index: the delay, or more after a step of the clock. Series share this array, so it changes in place. */
  lagsMs: number[] = [];

  readonly #onLagsChanged: () => void;

  constructor(clock: Clock, onLagsChanged: () => void) {
    this.#steps = new ClockSteps(clock);
    this.#onLagsChanged = onLagsChanged;
  }

  get(delayMs: number): View | undefined {
    return this.#views.get(delayMs);
  }

  /** Adds views for these delays. Indexes change, so every series must be reset. */
  add(delaysMs: readonly number[]): void {
    const sorted = [...new Set([...this.#views.keys(), ...delaysMs])].sort((a, b) => a - b);
    const views = sorted.map((delayMs, index) => {
      const view = this.#views.get(delayMs) ?? new View(delayMs, index);
      view.index = index;
      return [delayMs, view] as const;
    });
    this.#views = new Map(views);
    this.lagsMs = sorted.map((delayMs) => this.#steps.lagMs(delayMs));
  }

  /** Updates the lags after a step of the clock. Call before new prices become visible. */
  checkClock(): void {
    const delays = [...this.#views.keys()];
    if (!this.#steps.check(delays.at(-1) ?? 0)) return;
    const lags = delays.map((delayMs) => this.#steps.lagMs(delayMs));
    if (lags.every((lag, i) => lag === this.lagsMs[i])) return;
    for (const [i, lag] of lags.entries()) this.lagsMs[i] = lag;
    this.#onLagsChanged();
  }

  /** Moves the horizon of every view to `now`. */
  advance(now: number): void {
    this.checkClock();
    for (const view of this.#views.values()) view.horizon = now - this.lagsMs[view.index]!;
  }

  /** The view shows at `now` what was recorded by this time. */
  horizon(view: View, now: number): number {
    this.checkClock();
    return now - this.lagsMs[view.index]!;
  }
}
