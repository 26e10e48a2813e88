/**
 * Loads of more pages of 1,000 ticks pause. With ten pages per symbol, pausing made first prices on PostgreSQL slower; the
 * limit itself was not measured.
 */
const PAGES_MAX = 15;

/** Orders loads that no request waits for: one at a time, FIFO. */
export class LoadQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves when all earlier loads are finished. `finished` says when the next one may continue. */
  enter(finished: Promise<void>): Promise<unknown> {
    const turn = this.#last;
    this.#last = turn.then(() => finished).catch(() => {});
    return turn;
  }
}

/**
 * A load of a series' recent prices in progress. If the series has many ticks, the load waits: requests that need no more
 * than the latest price read that instead. Then the load continues in its turn, or at once when a request needs the rest.
 */
export class SeriesLoad {
  readonly #queue: LoadQueue;
  readonly #paused = Promise.withResolvers<void>();
  readonly #released = Promise.withResolvers<void>();
  readonly #required = Promise.withResolvers<void>();
  readonly #finished = Promise.withResolvers<void>();
  #turn: Promise<unknown> | undefined;
  #pages = 0;
  readonly done: Promise<void>;

  constructor(queue: LoadQueue, read: (onNextPage: () => Promise<void> | undefined) => Promise<void>) {
    this.#queue = queue;
    this.done = read(() => (++this.#pages > PAGES_MAX ? this.#pause() : undefined)).finally(() =>
      this.#finished.resolve(),
    );
    this.done.catch(() => {}); // nobody may be waiting
  }

  /** Continues at once. Resolves when everything is loaded. */
  finish(): Promise<void> {
    this.#required.resolve();
    return this.done;
  }

  /** Continues in its turn. */
  release(): void {
    this.#released.resolve();
  }

  /** Resolves when everything is loaded, or when it turns out that there are many ticks. */
  pausedOrDone(): Promise<void> {
    return Promise.race([this.done, this.#paused.promise]);
  }

  async #pause(): Promise<void> {
    this.#paused.resolve();
    this.#turn ??= this.#released.promise.then(() => this.#queue.enter(this.#finished.promise));
    await Promise.race([this.#turn, this.#required.promise]);
  }
}
