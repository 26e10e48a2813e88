import type { CancelSignal } from './options.ts';

/** A signal that fires with the caller's signal, or when a timeout expires after `extend`. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #outer: CancelSignal | undefined;
  readonly #ms: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether the timeout has expired. */
  isOver = false;

  constructor(outer: CancelSignal | undefined, ms: number) {
    this.#outer = outer;
    this.#ms = ms;
    if (outer?.aborted) this.#onAbort();
    outer?.addEventListener('abort', this.#onAbort);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Starts or restarts the timeout. */
  extend(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.isOver = true;
      this.#controller.abort();
    }, this.#ms);
  }

  /** Stops the timeout until it is restarted. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  /** Ends what still uses the signal. */
  end(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener('abort', this.#onAbort);
    this.#controller.abort();
  }

  readonly #onAbort = () => this.#controller.abort(this.#outer?.reason);
}
