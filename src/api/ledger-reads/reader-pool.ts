import { Unavailable } from '../../ledger/engine/errors.ts';
import { refuse } from '../errors/errors.ts';
import { FairQueue } from './fair-queue.ts';
import type { LedgerRequest, LedgerResponse } from './protocol.ts';
import { ReaderThread, type ReaderThreadOptions } from './reader-thread.ts';

/** Each account uses at most one thread at a time, so one account's long reads do not block the others. */
const THREADS = 2;

/** Limits on requests that are running or queued. */
const PER_ACCOUNT_MAX = 32;
const TOTAL_MAX = 1_000;

/** Permission to read, counted against the limits until it is released. */
export interface ReadSlot {
  /** Reads when it is this account's turn. The request is dropped if `isWanted` returns false by then. */
  read(request: LedgerRequest, isWanted: () => boolean): Promise<LedgerResponse>;
  /** Idempotent. */
  release(): void;
}

interface Job {
  account: string;
  request: LedgerRequest;
  isWanted: () => boolean;
  done: PromiseWithResolvers<LedgerResponse>;
}

/**
 * Runs requests that read the ledger in a few reader threads. Accounts take turns:
 *
 *     request ─► slot (429 if its account has too many, 503 if all have) ─► unit ─► queue ─► reader thread ─► response
 */
export class ReaderPool {
  readonly #idle: ReaderThread[];
  readonly #all: readonly ReaderThread[];
  readonly #queue = new FairQueue<Job>();
  readonly #running = new Set<Job>();
  /** Accounts that have a running read. */
  readonly #busy = new Set<string>();
  /** Slots in use, by account. */
  readonly #slots = new Map<string, number>();
  /** Successful reads by server, for the metrics. */
  readonly reads = new Map([
    ['server="primary"', 0],
    ['server="standby"', 0],
  ]);
  #total = 0;
  #isClosed = false;

  constructor(options: ReaderThreadOptions) {
    this.#all = Array.from({ length: THREADS }, () => new ReaderThread(options));
    this.#idle = [...this.#all];
  }

  /** The number of requests that are running or queued. */
  get size(): number {
    return this.#total;
  }

  /** Reserves a slot for an account, or throws a refusal. Call it before anything is charged. */
  reserve(account: string): ReadSlot {
    const own = this.#slots.get(account) ?? 0;
    if (own >= PER_ACCOUNT_MAX) {
      throw refuse('rate_limited', { limit: `the account has ${own} point-in-time requests in progress` }, 1);
    }
    if (this.#total >= TOTAL_MAX) {
      throw refuse('unavailable', { why: 'too many point-in-time requests are in progress' }, 1);
    }
    this.#slots.set(account, own + 1);
    this.#total++;
    let isReleased = false;
    return {
      read: (request, isWanted) => this.#read(account, request, isWanted),
      release: () => {
        if (isReleased) return;
        isReleased = true;
        this.#release(account);
      },
    };
  }

  /**
   * Rejects all requests, because the ledger does not respond. A read that hangs keeps its thread until it ends; without
   * this, those queued behind it would wait for one timeout after another.
   */
  failAll(): void {
    const error = new Unavailable('its ledger cannot be reached');
    for (const { done } of this.#running) done.reject(error);
    this.#rejectQueued(error);
  }

  /** Stops the threads and rejects queued requests. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#rejectQueued(stopping());
    await Promise.all(this.#all.map((thread) => thread.stop()));
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
      if (job.isWanted()) this.#run(job, this.#idle.pop()!);
      else job.done.reject(new Unavailable('the client is gone'));
    }
  }

  #rejectQueued(error: Unavailable): void {
    for (let job = this.#queue.shift(); job; job = this.#queue.shift()) job.done.reject(error);
  }

  #run(job: Job, thread: ReaderThread): void {
    const { account, request, done } = job;
    this.#busy.add(account);
    this.#running.add(job);
    thread
      .read(request)
      .then((response) => {
        const server = `server="${response.isFromStandby ? 'standby' : 'primary'}"`;
        this.reads.set(server, this.reads.get(server)! + 1);
        done.resolve(response);
      }, done.reject)
      .finally(() => {
        this.#idle.push(thread);
        this.#busy.delete(account);
        this.#running.delete(job);
        this.#startNext();
      });
  }

  #release(account: string): void {
    this.#total--;
    const left = this.#slots.get(account)! - 1;
    if (left > 0) this.#slots.set(account, left);
    else this.#slots.delete(account);
  }
}

function stopping(): Unavailable {
  return new Unavailable('it is stopping');
}
