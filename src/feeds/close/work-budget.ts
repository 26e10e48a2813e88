/** Bounds the work of one call. */
export interface WorkBounds {
  /** Stops as soon as possible. The next start does the rest. */
  signal?: AbortSignal;
  /** Stops between two days after this time, but does at least one. */
  budgetMs?: number;
}

/** The budget of one call. */
export class WorkBudget {
  readonly signal: AbortSignal | undefined;
  readonly #endsAt: number;
  hasDoneSome = false;

  constructor({ signal, budgetMs = Number.POSITIVE_INFINITY }: WorkBounds) {
    this.signal = signal;
    this.#endsAt = performance.now() + budgetMs;
  }

  get isAborted(): boolean {
    return this.signal?.aborted ?? false;
  }

  get isUsedUp(): boolean {
    return this.isAborted || (this.hasDoneSome && performance.now() >= this.#endsAt);
  }
}
