import type { Engine } from '../engine/engine.ts';
import { DEFAULT_RETENTION, type RetentionRules } from './rules.ts';
import { RETENTION_STEPS } from './steps.ts';

export interface PruneLimits {
  signal?: AbortSignal;
  /** Stops between two batches after this time. */
  budgetMs?: number;
}

/** Deletes what is no longer kept, in small batches. Any number of processes may do it at the same time. */
export class RetentionStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Returns whether everything was done. When it stopped early, the next call continues. */
  async prune(
    now: number,
    rules: RetentionRules = DEFAULT_RETENTION,
    { signal, budgetMs = Number.POSITIVE_INFINITY }: PruneLimits = {},
  ): Promise<boolean> {
    const endsAt = performance.now() + budgetMs;
    for (const step of RETENTION_STEPS) {
      for await (const _ of step(this.#engine, now, rules)) {
        if (signal?.aborted || performance.now() >= endsAt) return false;
      }
    }
    return true;
  }
}
