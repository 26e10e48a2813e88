/** Bounds one call of background work. The next call continues where it stopped. */
export interface WorkBounds {
  /** Stops before the next step. */
  signal?: AbortSignal;
  /** Stops before the next step after this time, but not before the first. */
  budgetMs?: number;
}

/** Tells between two steps whether to stop. The caller reports each step, so that every call makes progress. */
export class WorkBudget {
  readonly signal: AbortSignal | undefined;
  readonly #endsAt: number;
  #hasProgress = false;

  constructor({ signal, budgetMs = Number.POSITIVE_INFINITY }: WorkBounds) {
    this.signal = signal;
    this.#endsAt = performance.now() + budgetMs;
  }

  get isAborted(): boolean {
    return this.signal?.aborted ?? false;
  }

  get isUsedUp(): boolean {
    return this.isAborted || (this.#hasProgress && performance.now() >= this.#endsAt);
  }

  stepDone(): void {
    this.#hasProgress = true;
  }
}
