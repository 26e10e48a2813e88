import type { HeartbeatReport, ReplicaStore } from '../ledger/operations/replicas.ts';
import { type Log, messageOf } from '../runtime/log/log.ts';

/** Each beat is one small write to the ledger, outside of any request. */
const BEAT_MS = 5_000;

/** A connection may hang forever: after this time the next heartbeat is sent anyway. */
const TIMEOUT_MS = 10_000;

/** A stop waits no longer than this for an unreachable ledger. */
const LEAVE_MS_MAX = 1_000;

/** Tells the ledger that this process serves, and how far it has followed. Failures are only logged at debug level. */
export class Heartbeat {
  readonly #replicas: Pick<ReplicaStore, 'beat' | 'leave'>;
  readonly #log: Log;
  readonly #status: () => HeartbeatReport;
  #timer: ReturnType<typeof setInterval> | undefined;
  #beating: Promise<void> | undefined;

  constructor(replicas: Pick<ReplicaStore, 'beat' | 'leave'>, log: Log, status: () => HeartbeatReport) {
    this.#replicas = replicas;
    this.#log = log;
    this.#status = status;
  }

  start(): void {
    this.#timer = setInterval(() => this.beat(), BEAT_MS);
    this.beat();
  }

  /** Sends a beat now, unless one is in progress. */
  beat(): void {
    this.#beating ??= atMost(TIMEOUT_MS, this.#quietly(this.#replicas.beat(this.#status()))).finally(() => {
      this.#beating = undefined;
    });
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    const leave = async () => {
      await this.#beating;
      await this.#quietly(this.#replicas.leave(this.#status().id));
    };
    await atMost(LEAVE_MS_MAX, leave());
  }

  async #quietly(call: Promise<void>): Promise<void> {
    await call.catch((error) => this.#log.debug('heartbeat failed', { message: messageOf(error) }));
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
