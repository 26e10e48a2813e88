import type { Meter } from '../../gate/meter/meter.ts';
import type { Spend } from '../../gate/meter/spend.ts';
import type { Clock } from '../../runtime/clock.ts';

import { type Refusal, refuse } from '../errors/errors.ts';
import type { Channel } from './channel.ts';
import type { Topic } from './topic.ts';

/** So many events are paid for by the connection's own unit, and by each unit after it. */
export const EVENTS_PER_UNIT = 100;

/** What may wait in the socket's queue. More is not written: a topic that changes again is sent once, as it is then. */
const QUEUE_BYTES = 64 * 1024;

/** A client that has taken nothing for so long is dropped. */
const STUCK_MS = 20_000;

/** Proxies close a connection that is silent for a minute or less. */
const HEARTBEAT_MS = 5_000;

/** How soon a client that lost its connection tries again. */
const RETRY_MS = 3_000;

export interface ConnectionOptions {
  channel: Pick<Channel, 'idOf' | 'view' | 'connections'>;
  topics: readonly Topic[];
  /** Changes up to here are known to the client. */
  after: number;
  account: { readonly id: string };
  /** The key it was opened with, to see whether it still holds. */
  key: string;
  meter: Pick<Meter, 'spend'>;
  /** Time that never jumps, in ms. */
  monotonic: Clock;
  quotaRefusal(spend: Spend & { ok: false }): Refusal;
  onClose(connection: Connection): void;
}

/**
 * One client that listens. It holds at most one waiting change for each of its symbols, so a slow reader costs no more
 * memory than a fast one: it is told the newest price of each symbol when it reads again, or is dropped.
 */
export class Connection {
  readonly topics: ReadonlySet<Topic>;
  readonly options: ConnectionOptions;
  readonly body: ReadableStream<Uint8Array>;
  readonly #waiting = new Set<Topic>();
  readonly #encoder = new TextEncoder();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #paidFor = EVENTS_PER_UNIT;
  #isPaying = false;
  #isFlushing = false;
  #lastWriteAt: number;

  constructor(options: ConnectionOptions) {
    this.options = options;
    this.#lastWriteAt = options.monotonic.now();
    this.topics = new Set(options.topics);
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          this.#write(`retry: ${RETRY_MS}\n: openpit\n\n`);
          this.offer(options.topics.filter(({ sequence }) => sequence > options.after));
        },
        pull: () => this.#flush(),
        cancel: () => this.#close(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: QUEUE_BYTES }),
    );
  }

  /** Whether more will be written. */
  get isOpen(): boolean {
    return this.#controller !== undefined;
  }

  /** Tells of changes, as soon as the client takes them. */
  offer(changed: Iterable<Topic>): void {
    for (const topic of changed) if (topic.sequence > 0 && this.topics.has(topic)) this.#waiting.add(topic);
    this.#flush();
  }

  /** Once a second or so: a sign of life when there was nothing to tell, and the end of a client that takes nothing. */
  beat(): void {
    const silentMs = this.options.monotonic.now() - this.#lastWriteAt;
    if (this.#hasRoom()) {
      if (silentMs >= HEARTBEAT_MS) this.#write(': still here\n\n');
    } else if (silentMs >= STUCK_MS) {
      this.#controller?.error(new Error('the client takes nothing'));
      this.#close();
    }
  }

  /** Says why, and closes. */
  end({ code, message }: Refusal): void {
    const controller = this.#controller;
    if (!controller) return;
    this.#close(); // first: what is written calls for more
    controller.enqueue(this.#encoder.encode(`event: end\ndata: ${JSON.stringify({ code, message })}\n\n`));
    controller.close();
  }

  /** Writes what waits, while there is room. A write may call for more before it returns: one at a time. */
  #flush(): void {
    if (this.#isFlushing || this.#isPaying || this.#waiting.size === 0) return;
    this.#isFlushing = true;
    this.#writeWaiting();
    this.#isFlushing = false;
  }

  #writeWaiting(): void {
    // In the order of their changes: the id of an event then stands for everything before it.
    for (const topic of [...this.#waiting].sort((a, b) => a.sequence - b.sequence)) {
      if (!this.#hasRoom()) return;
      if (this.#paidFor === 0 && !this.#pay()) return;
      this.#waiting.delete(topic);
      this.#paidFor--;
      this.#write(`id: ${this.options.channel.idOf(topic)}\n${topic.event}`);
    }
  }

  /** Takes the unit for the next events. False when they must wait for it, or when there is none. */
  #pay(): boolean {
    const { meter, account } = this.options;
    const spending = meter.spend(account, 'stream');
    if (!(spending instanceof Promise)) return this.#paid(spending);
    this.#isPaying = true;
    void spending.then((spend) => {
      this.#isPaying = false;
      if (this.#paid(spend)) this.#flush();
    });
    return false;
  }

  #paid(spend: Spend): boolean {
    if (spend.ok) this.#paidFor = EVENTS_PER_UNIT;
    else this.end(this.options.quotaRefusal(spend));
    return spend.ok;
  }

  #hasRoom(): boolean {
    return (this.#controller?.desiredSize ?? 0) > 0;
  }

  #write(text: string): void {
    this.#lastWriteAt = this.options.monotonic.now();
    this.#controller?.enqueue(this.#encoder.encode(text));
  }

  #close(): void {
    this.#controller = undefined;
    this.#waiting.clear();
    this.options.onClose(this);
  }
}

/** Why a stream ends when its account is on another plan now: what it may see has changed. */
export function planChanged(): Refusal {
  return refuse('unavailable', { why: 'the plan of the account has changed; connect again' });
}
