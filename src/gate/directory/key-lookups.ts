import type { FoundKey } from '../../ledger/accounts/accounts.ts';
import { Unavailable } from '../../ledger/engine/errors.ts';
import { type Scheduler, systemScheduler } from '../../runtime/scheduler.ts';

type Find = (hashes: readonly string[]) => Promise<ReadonlyMap<string, FoundKey>>;

/** 1,024 index probes take SQLite about 4 ms. */
const BATCH_MAX = 1_024;

/** Enough that one hung connection does not stop all lookups. */
const PROMPT_QUERIES_MAX = 4;

/**
 * How long a lookup may take, including its wait for a query: as long as a query on a hung connection. Without this limit, a
 * key that waits behind hung queries would be looked up on the next hung connection, and take twice as long.
 */
const LOOKUP_MS_MAX = 5_000;

/** The interval of the one query that all addresses over the limit of wrong keys share. */
const PACED_EVERY_MS = 100;

/**
 * Looks keys up in the ledger so that nobody can flood it, and no valid key is refused. Only a lookup can tell a new
 * valid key from a wrong one, so every address gets one; only the number of queries is limited:
 *
 *     under the limit of wrong keys ─► prompt: up to four queries at a time, each with all waiting keys
 *     over it                       ─► paced:  one query at a time, at most one per 100 ms for all such addresses
 */
export class KeyLookups {
  readonly #prompt: Lane;
  readonly #paced: Lane;

  constructor(find: Find, scheduler: Scheduler = systemScheduler) {
    this.#prompt = new Lane(find, PROMPT_QUERIES_MAX, 0, scheduler);
    this.#paced = new Lane(find, 1, PACED_EVERY_MS, scheduler);
  }

  find(hash: string, paced: boolean): Promise<FoundKey | undefined> {
    return (paced ? this.#paced : this.#prompt).find(hash);
  }
}

/** A few queries at a time, FIFO, with a pause after each. */
class Lane {
  readonly #find: Find;
  readonly #queriesMax: number;
  readonly #pauseMs: number;
  readonly #scheduler: Scheduler;
  readonly #waiting = new Map<string, Lookup>();
  #running = 0;
  #isStarting = false;

  constructor(find: Find, queriesMax: number, pauseMs: number, scheduler: Scheduler) {
    this.#find = find;
    this.#queriesMax = queriesMax;
    this.#pauseMs = pauseMs;
    this.#scheduler = scheduler;
  }

  find(hash: string): Promise<FoundKey | undefined> {
    const { promise } = this.#waiting.getOrInsertComputed(hash, () => this.#newLookup(hash));
    this.#start();
    return promise;
  }

  #newLookup(hash: string): Lookup {
    const { promise, resolve, reject } = Promise.withResolvers<FoundKey | undefined>();
    const cancel = this.#scheduler.after(LOOKUP_MS_MAX, () => {
      if (this.#waiting.get(hash) === lookup) this.#waiting.delete(hash);
      reject(new Unavailable('its ledger cannot be reached'));
    });
    const lookup: Lookup = {
      promise,
      resolve(found) {
        cancel();
        resolve(found);
      },
      reject(error) {
        cancel();
        reject(error);
      },
    };
    return lookup;
  }

  /** In a microtask, so that all keys of this turn of the event loop share one query. */
  #start(): void {
    if (this.#isStarting || this.#running >= this.#queriesMax) return;
    this.#isStarting = true;
    queueMicrotask(() => {
      this.#isStarting = false;
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running++;
    while (this.#waiting.size > 0) {
      await this.#next();
      if (this.#pauseMs > 0) await this.#pause();
    }
    this.#running--;
  }

  async #next(): Promise<void> {
    const batch = [...this.#waiting.entries().take(BATCH_MAX)];
    for (const [hash] of batch) this.#waiting.delete(hash);
    try {
      const found = await this.#find(batch.map(([hash]) => hash));
      for (const [hash, { resolve }] of batch) resolve(found.get(hash));
    } catch (error) {
      for (const [, { reject }] of batch) reject(error);
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => void this.#scheduler.after(this.#pauseMs, resolve));
  }
}

/** A key that is waiting or being looked up. */
type Lookup = Pick<PromiseWithResolvers<FoundKey | undefined>, 'promise' | 'resolve' | 'reject'>;
