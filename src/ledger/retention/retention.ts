import { type WorkBounds, WorkBudget } from '../../runtime/work-budget.ts';
import type { Engine } from '../engine/engine.ts';
import { DEFAULT_RETENTION, type RetentionRules } from './rules.ts';
import { RETENTION_STEPS } from './steps.ts';

/** Deletes what is no longer kept, in small batches. Any number of processes may do it at the same time. */
export class RetentionStore {
  readonly #engine: Engine;
  /** What a call that stopped early has left. */
  #rest: AsyncGenerator<void> | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Returns whether everything was done. When it stopped early, the next call continues, with the same time and rules. */
  async apply(
    now: number,
    rules: RetentionRules = DEFAULT_RETENTION,
    bounds: WorkBounds = {},
  ): Promise<boolean> {
    const work = new WorkBudget(bounds);
    const batches = this.#rest ?? batchesOf(this.#engine, now, rules);
    this.#rest = undefined; // after an error, the next call starts over
    while (!(await batches.next()).done) {
      work.stepDone();
      if (!work.isUsedUp) continue;
      this.#rest = batches;
      return false;
    }
    return true;
  }
}

async function* batchesOf(engine: Engine, now: number, rules: RetentionRules): AsyncGenerator<void> {
  for (const step of RETENTION_STEPS) yield* step(engine, now, rules);
}
