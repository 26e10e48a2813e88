import type { SyncAnswer, SyncRequest } from '../../ledger/quota/model.ts';
import { messageOf } from '../../runtime/log/log.ts';
import { Histogram } from '../../runtime/metrics/histogram.ts';
import type { Scheduler } from '../../runtime/scheduler.ts';
import type { QuotaHolder } from './holder.ts';
import type { ClockReading, LedgerTime } from './timing/ledger-time.ts';

/** Something that syncs with the ledger: an account's lease, or a lease that is being closed. */
export interface SyncParty {
  /** Undefined when there is nothing left to report. */
  syncRequest(now: ClockReading): SyncRequest | undefined;
  onAnswer(answer: SyncAnswer, sent: ClockReading): void;
  /** The ledger cannot be reached. It may or may not have applied the request, which is sent again later. */
  onUnreachable(): void;
}

export interface SyncerOptions {
  holder: Pick<QuotaHolder, 'sync'>;
  time: Pick<LedgerTime, 'read'>;
  scheduler: Scheduler;
  warn: (text: string) => void;
  /** How many accounts one call is about. */
  batchMax: number;
}

/**
 * After this a call counts as lost. It is harmless if it still arrives: a seq is applied once. A slow ledger gets a
 * longer timeout, or no call would ever succeed; requests do not wait longer for it, because by then it counts as down.
 */
const TIMEOUT_MS_MIN = 1_000;
const TIMEOUT_MS_MAX = 2_500;
/** The timeout is this many times the duration of the last answered call. */
const TIMEOUT_FACTOR = 3;

const BACKOFF_MS_MIN = 100;
/** Together with the longest timeout, less than the 5 s within which service must resume after an outage. */
const BACKOFF_MS_MAX = 1_000;

/** Batches the sync requests of many accounts, one call at a time. What is queued meanwhile goes into the next call. */
export class Syncer {
  readonly #options: SyncerOptions;
  readonly #urgent = new Set<SyncParty>();
  readonly #due = new Set<SyncParty>();
  #running = false;
  /** Calls in a row that have failed. */
  #failures = 0;
  #lastFailure = '';
  #timeoutMs = TIMEOUT_MS_MIN;
  #isClosed = false;
  #whenEmpty: (() => void) | undefined;
  #whenIdle: (() => void)[] = [];
  /** Duration of the calls, including those without an answer. */
  readonly latency = new Histogram();
  /** All calls that have failed, or got no answer in time. */
  failedCalls = 0;

  constructor(options: SyncerOptions) {
    this.#options = options;
  }

  /** Two calls in a row have failed, so requests do not wait for a third. A single failure may be a dropped connection. */
  get isDown(): boolean {
    return this.#failures > 1;
  }

  /** Why calls fail, while they do. */
  get failure(): string | undefined {
    return this.isDown ? this.#lastFailure : undefined;
  }

  /** Queues a sync. An urgent one, for which a request waits, goes before the others. */
  enqueue(party: SyncParty, urgent = false): void {
    (urgent ? this.#urgent : this.#due).add(party);
    if (this.#running || this.#failures > 0 || this.#isClosed) return;
    this.#running = true;
    // In a microtask, so that everything queued in this turn goes into one call.
    queueMicrotask(() => void this.#run());
  }

  /** Resolves when there is nothing left to send, or at the next failure. */
  idle(): Promise<void> {
    if (!this.#running) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /** Sends what is queued, for at most `msMax`. After that nothing is sent, and no timer is left running. */
  close(msMax: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        this.#isClosed = true;
        cancel();
        resolve();
      };
      const cancel = this.#options.scheduler.after(msMax, end);
      this.#whenEmpty = end;
      if (!this.#running && this.#isEmpty) end();
    });
  }

  get #isEmpty(): boolean {
    return this.#urgent.size + this.#due.size === 0;
  }

  async #run(): Promise<void> {
    while (!this.#isEmpty && !this.#isClosed) {
      const batch = this.#nextBatch();
      if (!(await this.#send(batch))) {
        this.#fail(batch);
        break;
      }
      this.#failures = 0;
      // SQLite runs on this thread: without this, requests would wait for the reports of thousands of accounts.
      if (!this.#isEmpty) await this.#options.scheduler.yieldToRequests?.();
    }
    this.#running = false;
    if (this.#isEmpty) this.#whenEmpty?.();
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #nextBatch(): SyncParty[] {
    const batch = new Set<SyncParty>();
    for (const queue of [this.#urgent, this.#due]) {
      for (const party of queue) {
        if (batch.size === this.#options.batchMax) break;
        batch.add(party);
        queue.delete(party);
      }
    }
    for (const party of batch) this.#due.delete(party);
    return [...batch];
  }

  async #send(batch: readonly SyncParty[]): Promise<boolean> {
    const sent = this.#options.time.read();
    const requests = batch.flatMap((party) => {
      const request = party.syncRequest(sent);
      return request ? { party, request } : [];
    });
    if (requests.length === 0) return true;
    const answers = await this.#call(requests.map(({ request }) => request));
    const ms = this.#options.time.read().mono - sent.mono;
    this.latency.add(ms);
    if (!answers) this.failedCalls++;
    if (answers) this.#setTimeout(TIMEOUT_FACTOR * ms);
    else if (this.#failures > 0) this.#setTimeout(2 * this.#timeoutMs);
    requests.forEach(({ party }, i) => {
      if (answers) party.onAnswer(answers[i]!, sent);
    });
    return answers !== undefined;
  }

  /** The answers, or undefined when the call failed or timed out. */
  #call(requests: readonly SyncRequest[]): Promise<SyncAnswer[] | undefined> {
    const { holder, scheduler, warn } = this.#options;
    return new Promise((resolve) => {
      const fail = (reason: string) => {
        this.#lastFailure = reason;
        warn(`a quota sync failed and is retried: ${reason}`);
        resolve(undefined);
      };
      const cancel = scheduler.after(this.#timeoutMs, () => fail('the ledger has not answered in time'));
      holder
        .sync(requests)
        .then(resolve, (error) => fail(messageOf(error)))
        .finally(cancel);
    });
  }

  #setTimeout(ms: number): void {
    this.#timeoutMs = Math.min(Math.max(ms, TIMEOUT_MS_MIN), TIMEOUT_MS_MAX);
  }

  #fail(batch: readonly SyncParty[]): void {
    const backoffMs = Math.min(BACKOFF_MS_MIN * 2 ** this.#failures++, BACKOFF_MS_MAX);
    for (const party of batch) {
      if (this.isDown) party.onUnreachable();
      this.#urgent.add(party);
    }
    this.#options.scheduler.after(backoffMs, () => {
      if (this.#running || this.#isClosed) return;
      this.#running = true;
      void this.#run();
    });
  }
}
