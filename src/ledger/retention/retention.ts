import { type WorkBounds, WorkBudget } from '../../runtime/work-budget.ts';
import type { Engine } from '../engine/engine.ts';
import { DEFAULT_RETENTION, type RetentionRules } from './rules.ts';
import { RETENTION_STEPS } from './steps.ts';

/** Deletes what is no longer kept, in small batches. Any number of processes may do it at the same time. */
export class RetentionStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Returns whether everything was done. When it stopped early, the next call continues. */
  async apply(
    now: number,
    rules: RetentionRules = DEFAULT_RETENTION,
    bounds: WorkBounds = {},
  ): Promise<boolean> {
    const work = new WorkBudget(bounds);
    for (const step of RETENTION_STEPS) {
      for await (const _ of step(this.#engine, now, rules)) {
        work.stepDone();
        if (work.isUsedUp) return false;
      }
    }
    return true;
  }
}
