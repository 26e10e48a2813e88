import type { Beat, ReplicaStore } from '../ledger/operations/replicas.ts';
import { type Log, messageOf } from '../runtime/log/log.ts';

/** How often a process says that it is there: one small write to the ledger, beside all requests. */
const BEAT_MS = 5_000;

/** A connection may hang for good: after this the next beat is due all the same. */
const PATIENCE_MS = 10_000;

/** A stop waits no longer than this for a ledger that is away. */
const LEAVE_MS_MAX = 1_000;

/** Tells the ledger that this process serves, and how far it has followed. A ledger that is away is not its business. */
export class Heartbeat {
  readonly #replicas: Pick<ReplicaStore, 'beat' | 'leave'>;
  readonly #log: Log;
  readonly #say: () => Beat;
  #timer: ReturnType<typeof setInterval> | undefined;
  #beating: Promise<void> | undefined;

  constructor(replicas: Pick<ReplicaStore, 'beat' | 'leave'>, log: Log, say: () => Beat) {
    this.#replicas = replicas;
    this.#log = log;
    this.#say = say;
  }

  start(): void {
    this.#timer = setInterval(() => this.beat(), BEAT_MS);
    this.beat();
  }

  /** Says it now, unless the last word is still under way. */
  beat(): void {
    this.#beating ??= atMost(PATIENCE_MS, this.#quietly(this.#replicas.beat(this.#say()))).finally(() => {
      this.#beating = undefined;
    });
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    const leave = async () => {
      await this.#beating;
      await this.#quietly(this.#replicas.leave(this.#say().id));
    };
    await atMost(LEAVE_MS_MAX, leave());
  }

  async #quietly(word: Promise<void>): Promise<void> {
    await word.catch((error) => this.#log.debug('no heartbeat', { message: messageOf(error) }));
  }
}

async function atMost(ms: number, work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLong = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, tooLong]);
  clearTimeout(timer);
}
