import type { Clock } from '../../../runtime/clock.ts';
import type { LoadLevel } from './load-level.ts';
import { type LoadQueue, SeriesLoad } from './series-load.ts';

/** Prices that arrive during a read of the latest ones require another. After this many, all prices are loaded. */
const LATEST_ATTEMPTS = 3;

/** What is loaded. A read that became stale meanwhile leaves `has` as it was. */
export interface LoadableSeries {
  has(wanted: LoadLevel): boolean;
  /** Waits for `onNextPage` before each page of ticks. */
  read(wanted: LoadLevel, now: number, onNextPage: () => Promise<void>): Promise<void>;
  /** Returns false if the latest prices cannot be read without all ticks. */
  readLatest(now: number): Promise<boolean>;
}

/** Decides what of a series is read, and when: once for all requests that wait for it, and the latest prices first. */
export class SeriesLoader {
  readonly #queue: LoadQueue;
  readonly #series: LoadableSeries;
  #loading: SeriesLoad | undefined;
  #loadingLatest: Promise<boolean> | undefined;

  /** The queue is for loads that no request waits for. */
  constructor(queue: LoadQueue, series: LoadableSeries) {
    this.#queue = queue;
    this.#series = series;
  }

  /** Whether more than the latest prices are being read. */
  get isLoading(): boolean {
    return this.#loading !== undefined;
  }

  /** The latest prices are loaded first if there are many ticks; the rest follows in the background. */
  async load(wanted: LoadLevel, clock: Clock): Promise<void> {
    if (this.#series.has(wanted)) return;
    await this.#queue.urgently(async () => {
      for (let attempt = 1; !this.#series.has(wanted); attempt++) {
        this.#loading ??= this.#startLoad(wanted === 'latest' ? 'recent' : wanted, clock);
        const loading = this.#loading;
        if (wanted === 'latest' && attempt <= LATEST_ATTEMPTS) await this.#awaitLatest(loading, clock);
        else await loading.finish();
      }
    });
  }

  /** Loads the recent prices, behind every load that a request waits for. */
  async loadInBackground(clock: Clock): Promise<void> {
    while (!this.#series.has('recent')) {
      await this.#queue.whenIdle();
      this.#loading ??= this.#startLoad('recent', clock);
      this.#loading.release();
      await this.#loading.done;
    }
  }

  async #awaitLatest(loading: SeriesLoad, clock: Clock): Promise<void> {
    await loading.pausedOrDone();
    if (this.#series.has('latest') || !this.#loading) return;
    try {
      if (!(await this.#loadLatest(clock))) await loading.finish();
    } finally {
      loading.release();
    }
  }

  #startLoad(wanted: LoadLevel, clock: Clock): SeriesLoad {
    return new SeriesLoad(this.#queue, (onNextPage) =>
      this.#series.read(wanted, clock.now(), onNextPage).finally(() => {
        this.#loading = undefined;
      }),
    );
  }

  #loadLatest(clock: Clock): Promise<boolean> {
    this.#loadingLatest ??= this.#series.readLatest(clock.now()).finally(() => {
      this.#loadingLatest = undefined;
    });
    return this.#loadingLatest;
  }
}
