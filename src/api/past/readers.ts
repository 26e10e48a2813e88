import { Unavailable } from '../../ledger/engine/errors.ts';
import { refuse } from '../errors/errors.ts';
import { FairQueue } from './fair-queue.ts';
import type { LedgerRequest, LedgerResponse } from './protocol.ts';
import { Reader, type ReaderOptions } from './reader.ts';

/** Two, and an account reads in one of them at a time: its long reads do not hold up those of others. Their priority is below that of the serving thread. */
const READERS = 2;

/** How many requests may read or wait, of one account and of all. */
const PER_ACCOUNT_MAX = 32;
const TOTAL_MAX = 1_000;

/** A place among those who read or wait. It must be left. */
export interface Place {
  /** Reads as soon as it is this account's turn. A request that nobody waits for any more is not read. */
  read(request: LedgerRequest, isWanted: () => boolean): Promise<LedgerResponse>;
  leave(): void;
}

interface Job {
  account: string;
  request: LedgerRequest;
  isWanted: () => boolean;
  done: PromiseWithResolvers<LedgerResponse>;
}

/**
 * Reads the ledger for requests off the serving thread, a few at a time. Accounts take turns:
 *
 *     request ─► place (429 if its account has too many, 503 if all have) ─► unit ─► queue ─► reader thread ─► response
 */
export class Readers {
  readonly #idle: Reader[];
  readonly #all: readonly Reader[];
  readonly #queue = new FairQueue<Job>();
  /** The accounts for which a thread reads now. */
  readonly #busy = new Set<string>();
  readonly #places = new Map<string, number>();
  /** Reads that were answered, by the server they came from. */
  readonly reads = new Map([
    ['server="primary"', 0],
    ['server="standby"', 0],
  ]);
  #total = 0;
  #isClosed = false;

  constructor(options: ReaderOptions) {
    this.#all = Array.from({ length: READERS }, () => new Reader(options));
    this.#idle = [...this.#all];
  }

  /** How many requests read or wait. */
  get size(): number {
    return this.#total;
  }

  /** Takes a place for an account, or refuses. Nothing is read and nothing is charged before. */
  enter(account: string): Place {
    const own = this.#places.get(account) ?? 0;
    if (own >= PER_ACCOUNT_MAX) {
      throw refuse('rate_limited', { limit: `the account has ${own} requests about the past under way` }, 1);
    }
    if (this.#total >= TOTAL_MAX) {
      throw refuse('unavailable', { why: 'too many requests about the past are under way' }, 1);
    }
    this.#places.set(account, own + 1);
    this.#total++;
    let isLeft = false;
    return {
      read: (request, isWanted) => this.#read(account, request, isWanted),
      leave: () => {
        if (isLeft) return;
        isLeft = true;
        this.#leave(account);
      },
    };
  }

  /** Ends the threads. What still waits is refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (let job = this.#queue.shift(); job; job = this.#queue.shift()) job.done.reject(stopping());
    await Promise.all(this.#all.map((reader) => reader.stop()));
  }

  #read(account: string, request: LedgerRequest, isWanted: () => boolean): Promise<LedgerResponse> {
    if (this.#isClosed) return Promise.reject(stopping());
    const done = Promise.withResolvers<LedgerResponse>();
    this.#queue.push(account, { account, request, isWanted, done });
    this.#startNext();
    return done.promise;
  }

  #startNext(): void {
    while (this.#idle.length > 0) {
      const job = this.#queue.shift(this.#busy);
      if (!job) return;
      if (!job.isWanted()) {
        job.done.reject(new Unavailable('the client is gone'));
        continue;
      }
      const reader = this.#idle.pop()!;
      this.#busy.add(job.account);
      reader
        .read(job.request)
        .then((response) => {
          const server = `server="${response.isFromStandby ? 'standby' : 'primary'}"`;
          this.reads.set(server, this.reads.get(server)! + 1);
          job.done.resolve(response);
        }, job.done.reject)
        .finally(() => {
          this.#idle.push(reader);
          this.#busy.delete(job.account);
          this.#startNext();
        });
    }
  }

  #leave(account: string): void {
    this.#total--;
    const left = this.#places.get(account)! - 1;
    if (left > 0) this.#places.set(account, left);
    else this.#places.delete(account);
  }
}

function stopping(): Unavailable {
  return new Unavailable('it is stopping');
}
