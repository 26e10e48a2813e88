import type { Provider } from '../provider.ts';
import type { RunnerParts } from '../run/context.ts';
import type { RunResult } from '../run/run-record.ts';
import { type RunOptions, runFeed } from '../run/runner.ts';
import { loadRequestedSample } from './requested-sample.ts';

/** No feed has such a key. */
const SAMPLE = '(sample)';

/** Runs the feeds that are due, concurrently with the other work of the feed thread. */
export class DueFeeds {
  readonly #parts: RunnerParts;
  readonly #onEnd: (provider: Provider, ended: RunResult | Error) => void;
  readonly #running = new Map<string, Promise<void>>();

  constructor(parts: RunnerParts, onEnd: (provider: Provider, ended: RunResult | Error) => void) {
    this.#parts = parts;
    this.#onEnd = onEnd;
  }

  /**
   * Starts a run of every feed that is due, or that an operator has requested. A request waits while its feed
   * is running, here or in another process. Does not wait for the runs.
   */
  async start(now: number): Promise<void> {
    const { feeds } = this.#parts.ledger;
    const requests = await feeds.requestedRuns();
    const due = new Set(await feeds.due(now));
    for (const provider of this.#parts.providers) {
      const { key } = provider;
      const request = requests.get(key);
      if ((!request && !due.has(key)) || this.#running.has(key)) continue;
      const options = request ? { requested: true, ...request } : { dueAt: now };
      const run = this.#run(provider, options).finally(() => this.#running.delete(key));
      this.#running.set(key, run);
    }
  }

  /** Loads the bundle, if an operator has requested it. Does not wait for it. */
  startSample(onLoaded: () => void, onError: (error: unknown) => void): void {
    if (this.#running.has(SAMPLE)) return;
    const loading = loadRequestedSample(this.#parts)
      .then((isLoaded) => isLoaded && onLoaded(), onError)
      .then(() => void this.#running.delete(SAMPLE));
    this.#running.set(SAMPLE, loading);
  }

  /** Resolves when no run is in progress. */
  async settled(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  async #run(provider: Provider, options: RunOptions): Promise<void> {
    try {
      const ended = await runFeed(provider, this.#parts, options);
      if (ended) this.#onEnd(provider, ended);
    } catch (error) {
      this.#onEnd(provider, error instanceof Error ? error : new Error(String(error)));
    }
  }
}
