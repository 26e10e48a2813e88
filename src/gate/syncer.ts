import type { SyncAnswer, SyncRequest } from '../ledger/quota-rules.ts';
import type { Moment } from './lease.ts';
import type { Scheduler } from './scheduler.ts';

/** Something that has a message for the ledger: the purse of an account, or a lease that is being closed. */
export interface Party {
  /** Undefined when there is nothing to say any more. */
  message(now: Moment): SyncRequest | undefined;
  answered(answer: SyncAnswer, sent: Moment): void;
  /** No answer came; the ledger may have applied the message or not. It is sent again later. */
  failed(): void;
}

export interface SyncerOptions {
  sync: (requests: readonly SyncRequest[]) => Promise<SyncAnswer[]>;
  now: () => Moment;
  scheduler: Scheduler;
  warn: (text: string) => void;
}

/** Few enough that one transaction holds nobody up: about 10 ms on SQLite. */
const BATCH_MAX = 256;

/** After this a call counts as lost. What it may still do is harmless: a seq is applied once. */
const TIMEOUT_MS = 2_000;
/** Calls that were given up and still hang. More would only fill the pool of connections. */
const HANGING_MAX = 3;

const PAUSE_MS_MIN = 100;
const PAUSE_MS_MAX = 2_000;

/** Sends the messages of many accounts in one call, one call at a time. What comes up meanwhile goes in the next. */
export class Syncer {
  readonly #options: SyncerOptions;
  readonly #urgent = new Set<Party>();
  readonly #due = new Set<Party>();
  #running = false;
  #hanging = 0;
  #pauseMs = 0;
  #whenIdle: (() => void)[] = [];

  constructor(options: SyncerOptions) {
    this.#options = options;
  }

  /** The last call failed, and the next try is a while away. */
  get isDown(): boolean {
    return this.#pauseMs > 0;
  }

  /** Sends the party's message soon; an urgent one, for which a request waits, before the others. */
  ask(party: Party, urgent = false): void {
    (urgent ? this.#urgent : this.#due).add(party);
    if (this.#running || this.isDown) return;
    this.#running = true;
    // A turn later, so that all who ask in this one go together.
    queueMicrotask(() => void this.#run());
  }

  /** Resolves when there is nothing left to send, or at the next failure. */
  idle(): Promise<void> {
    if (!this.#running) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  async #run(): Promise<void> {
    while (this.#urgent.size + this.#due.size > 0) {
      const batch = this.#nextBatch();
      if (!(await this.#send(batch))) {
        this.#fail(batch);
        break;
      }
      this.#pauseMs = 0;
    }
    this.#running = false;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #nextBatch(): Party[] {
    const batch = [...this.#urgent, ...[...this.#due].filter((party) => !this.#urgent.has(party))];
    batch.length = Math.min(batch.length, BATCH_MAX);
    for (const party of batch) {
      this.#urgent.delete(party);
      this.#due.delete(party);
    }
    return batch;
  }

  async #send(batch: readonly Party[]): Promise<boolean> {
    if (this.#hanging >= HANGING_MAX) return false;
    const sent = this.#options.now();
    const messages = batch.flatMap((party) => {
      const request = party.message(sent);
      return request ? { party, request } : [];
    });
    if (messages.length === 0) return true;
    const answers = await this.#call(messages.map(({ request }) => request));
    messages.forEach(({ party }, i) => {
      if (answers) party.answered(answers[i]!, sent);
    });
    return answers !== undefined;
  }

  /** The answers, or undefined when there were none in time. */
  #call(requests: readonly SyncRequest[]): Promise<SyncAnswer[] | undefined> {
    const { sync, scheduler, warn } = this.#options;
    return new Promise((resolve) => {
      let hangs = false;
      const callOff = scheduler.after(TIMEOUT_MS, () => {
        hangs = true;
        this.#hanging++;
        warn('the ledger has not answered a quota sync in time; it is tried again');
        resolve(undefined);
      });
      const settled = () => {
        callOff();
        if (hangs) this.#hanging--;
      };
      sync(requests).then(
        (answers) => {
          settled();
          resolve(answers);
        },
        (error) => {
          settled();
          if (!hangs) warn(`a quota sync failed and is tried again: ${error}`);
          resolve(undefined);
        },
      );
    });
  }

  #fail(batch: readonly Party[]): void {
    this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, PAUSE_MS_MIN), PAUSE_MS_MAX);
    for (const party of batch) {
      party.failed();
      this.#due.add(party);
    }
    this.#options.scheduler.after(this.#pauseMs, () => {
      if (this.#running) return;
      this.#running = true;
      void this.#run();
    });
  }
}
