import type { SyncAnswer, SyncRequest } from '../../ledger/quota/rules.ts';
import type { ClockReading } from './lease.ts';
import type { Scheduler } from './scheduler.ts';

/** Something that has a message for the ledger: the purse of an account, or a lease that is being closed. */
export interface SyncParty {
  /** Undefined when there is nothing to say any more. */
  message(now: ClockReading): SyncRequest | undefined;
  answered(answer: SyncAnswer, sent: ClockReading): void;
  /** The ledger is out of reach. It may have applied the message or not; the message is sent again later. */
  failed(): void;
}

export interface SyncerOptions {
  sync: (requests: readonly SyncRequest[]) => Promise<SyncAnswer[]>;
  now: () => ClockReading;
  scheduler: Scheduler;
  warn: (text: string) => void;
  /** Called after each call: how long it took, and whether it was answered in time. */
  onCall: (ms: number, isAnswered: boolean) => void;
}

/** Few enough that one transaction holds nobody up: about 10 ms on SQLite. */
const BATCH_MAX = 256;

/**
 * After this a call counts as lost. What it may still do is harmless: a seq is applied once. A ledger that is slow is
 * given more time, or it would never be heard; who waits for a unit does not wait longer, for by then the ledger is down.
 */
const PATIENCE_MS_MIN = 1_000;
const PATIENCE_MS_MAX = 2_500;
/** A call may take so many times as long as the last that was answered. */
const SLOWER = 3;

const PAUSE_MS_MIN = 100;
/** With the longest patience, less than the 5 s within which all is well after an outage. */
const PAUSE_MS_MAX = 1_000;

/** Sends the messages of many accounts in one call, one call at a time. What comes up meanwhile goes in the next. */
export class Syncer {
  readonly #options: SyncerOptions;
  readonly #urgent = new Set<SyncParty>();
  readonly #due = new Set<SyncParty>();
  #running = false;
  #failures = 0;
  #patienceMs = PATIENCE_MS_MIN;
  #isClosed = false;
  #whenEmpty: (() => void) | undefined;
  #whenIdle: (() => void)[] = [];

  constructor(options: SyncerOptions) {
    this.#options = options;
  }

  /** Two calls in a row have failed: a request need not wait to hear that. One may be a connection that was dropped. */
  get isDown(): boolean {
    return this.#failures > 1;
  }

  /** Sends the party's message soon; an urgent one, for which a request waits, before the others. */
  ask(party: SyncParty, urgent = false): void {
    (urgent ? this.#urgent : this.#due).add(party);
    if (this.#running || this.#failures > 0 || this.#isClosed) return;
    this.#running = true;
    // A turn later, so that all who ask in this one go together.
    queueMicrotask(() => void this.#run());
  }

  /** Resolves when there is nothing left to send, or at the next failure. */
  idle(): Promise<void> {
    if (!this.#running) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /** Sends what is left, for so long at most. After that nothing is sent any more, and no timer is left running. */
  close(msMax: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        this.#isClosed = true;
        callOff();
        resolve();
      };
      const callOff = this.#options.scheduler.after(msMax, end);
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
    }
    this.#running = false;
    if (this.#isEmpty) this.#whenEmpty?.();
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #nextBatch(): SyncParty[] {
    const batch = [...this.#urgent, ...[...this.#due].filter((party) => !this.#urgent.has(party))];
    batch.length = Math.min(batch.length, BATCH_MAX);
    for (const party of batch) {
      this.#urgent.delete(party);
      this.#due.delete(party);
    }
    return batch;
  }

  async #send(batch: readonly SyncParty[]): Promise<boolean> {
    const sent = this.#options.now();
    const messages = batch.flatMap((party) => {
      const request = party.message(sent);
      return request ? { party, request } : [];
    });
    if (messages.length === 0) return true;
    const answers = await this.#call(messages.map(({ request }) => request));
    const ms = this.#options.now().mono - sent.mono;
    this.#options.onCall(ms, answers !== undefined);
    if (answers) this.#setPatience(SLOWER * ms);
    else if (this.#failures > 0) this.#setPatience(2 * this.#patienceMs);
    messages.forEach(({ party }, i) => {
      if (answers) party.answered(answers[i]!, sent);
    });
    return answers !== undefined;
  }

  /** The answers, or undefined when there were none in time. */
  #call(requests: readonly SyncRequest[]): Promise<SyncAnswer[] | undefined> {
    const { sync, scheduler, warn } = this.#options;
    return new Promise((resolve) => {
      const lose = (text: string) => {
        warn(`a quota sync is tried again: ${text}`);
        resolve(undefined);
      };
      const callOff = scheduler.after(this.#patienceMs, () => lose('the ledger has not answered in time'));
      sync(requests)
        .then(resolve, (error) => lose(String(error)))
        .finally(callOff);
    });
  }

  #setPatience(ms: number): void {
    this.#patienceMs = Math.min(Math.max(ms, PATIENCE_MS_MIN), PATIENCE_MS_MAX);
  }

  #fail(batch: readonly SyncParty[]): void {
    const pauseMs = Math.min(PAUSE_MS_MIN * 2 ** this.#failures++, PAUSE_MS_MAX);
    for (const party of batch) {
      if (this.isDown) party.failed();
      this.#urgent.add(party);
    }
    this.#options.scheduler.after(pauseMs, () => {
      if (this.#running || this.#isClosed) return;
      this.#running = true;
      void this.#run();
    });
  }
}
