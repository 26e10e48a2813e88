/** Before each page of a background load, so that it leaves most of the database's time to requests. */
const PAUSE_MS = 5;

/** The longest that a background load waits for requests before each page, so that it finishes under any load. */
const WAIT_MS_MAX = 20;

/** Orders the loads of all series: those that requests wait for go first; the others run one at a time, FIFO. */
export class LoadQueue {
  #last: Promise<unknown> = Promise.resolve();
  #urgentCount = 0;
  #idle = Promise.withResolvers<void>();

  /** Resolves when all earlier loads are finished. `finished` says when the next one may continue. */
  enter(finished: Promise<void>): Promise<unknown> {
    const turn = this.#last;
    this.#last = turn.then(() => finished).catch(() => {});
    return turn;
  }

  /** Runs a load that a request waits for. Background loads pause meanwhile. */
  async urgently(load: () => Promise<void>): Promise<void> {
    this.#urgentCount++;
    try {
      await load();
    } finally {
      this.#urgentCount--;
      if (this.#urgentCount === 0) {
        this.#idle.resolve();
        this.#idle = Promise.withResolvers<void>();
      }
    }
  }

  /** Resolves after a pause, once no request waits for a load. Does not wait for requests for long. */
  async whenIdle(): Promise<void> {
    await Bun.sleep(PAUSE_MS);
    if (this.#urgentCount > 0) await Promise.race([this.#idle.promise, Bun.sleep(WAIT_MS_MAX)]);
  }
}

/**
 * A load of a series' recent prices in progress. If the series has more than one page of ticks, the load waits: requests that
 * need no more than the latest price read that instead. Then the load continues in its turn, or at once when a request needs
 * the rest.
 */
export class SeriesLoad {
  readonly #queue: LoadQueue;
  readonly #paused = Promise.withResolvers<void>();
  readonly #released = Promise.withResolvers<void>();
  readonly #required = Promise.withResolvers<void>();
  readonly #finished = Promise.withResolvers<void>();
  #turn: Promise<unknown> | undefined;
  #isRequired = false;
  readonly done: Promise<void>;

  constructor(queue: LoadQueue, read: (onNextPage: () => Promise<void>) => Promise<void>) {
    this.#queue = queue;
    this.done = read(() => this.#pause()).finally(() => this.#finished.resolve());
    this.done.catch(() => {}); // nobody may be waiting
  }

  /** Continues at once. Resolves when everything is loaded. */
  finish(): Promise<void> {
    this.#isRequired = true;
    this.#required.resolve();
    return this.done;
  }

  /** Continues in its turn, behind every load that a request waits for. */
  release(): void {
    this.#paused.resolve();
    this.#released.resolve();
  }

  /** Resolves when everything is loaded, or when it turns out that there are many ticks. */
  pausedOrDone(): Promise<void> {
    return Promise.race([this.done, this.#paused.promise]);
  }

  async #pause(): Promise<void> {
    if (this.#isRequired) return;
    this.#paused.resolve();
    this.#turn ??= this.#released.promise.then(() => this.#queue.enter(this.#finished.promise));
    await Promise.race([this.#turn.then(() => this.#queue.whenIdle()), this.#required.promise]);
  }
}
