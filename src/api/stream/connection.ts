import type { PresentedKey } from '../../gate/gate.ts';
import { redactKeys } from '../../gate/key.ts';
import type { Spend } from '../../gate/meter/spend.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Refusal } from '../errors/errors.ts';
import type { MaybeAsync } from '../model/maybe-async.ts';
import type { Topic } from './topic.ts';

/** Events that each unit pays for, starting with the unit charged for the connection itself. */
export const EVENTS_PER_UNIT = 100;

/** Bytes that may be queued for the client. While the queue is full, changes of a symbol are coalesced. */
const QUEUE_BYTES_MAX = 64 * 1024;

/** A client that has read nothing for this long is disconnected. */
const STUCK_MS = 20_000;

/** Proxies close idle connections after a minute or less. */
const HEARTBEAT_MS = 5_000;

/** How long clients wait before they reconnect. */
const RETRY_MS = 3_000;

export interface StreamConnectionOptions {
  topics: readonly Topic[];
  /** The client has already received changes up to this sequence number. */
  after: number;
  /** The key that opened the stream. It is checked again while the stream is open. */
  presented: PresentedKey;
  /** Takes the unit for the next events. */
  pay(): MaybeAsync<Spend>;
  /** A monotonic clock, in ms. */
  monotonic: Clock;
  eventId(topic: Topic): string;
  /** About parameters that have no effect. */
  warnings: readonly string[];
  quotaRefusal(spend: Spend & { ok: false }): Refusal;
  onClose(connection: StreamConnection): void;
}

/**
 * One client's stream. It holds at most one pending change per symbol, so a slow reader needs no more memory than a
 * fast one: it receives the newest price of each symbol when it reads again, or is disconnected.
 */
export class StreamConnection {
  readonly topics: ReadonlySet<Topic>;
  readonly presented: PresentedKey;
  readonly body: ReadableStream<Uint8Array>;
  readonly #options: StreamConnectionOptions;
  readonly #pending = new Set<Topic>();
  readonly #encoder = new TextEncoder();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #eventsPaid = EVENTS_PER_UNIT;
  #isPaying = false;
  #isFlushing = false;
  #lastWriteAt: number;

  constructor(options: StreamConnectionOptions) {
    this.#options = options;
    this.presented = options.presented;
    this.#lastWriteAt = options.monotonic.now();
    this.topics = new Set(options.topics);
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          this.#write(`retry: ${RETRY_MS}\n: openpit\n\n${options.warnings.map(warningEvent).join('')}`);
          this.offer(options.topics.filter(({ sequence }) => sequence > options.after));
        },
        pull: () => this.#flush(),
        cancel: () => this.#close(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: QUEUE_BYTES_MAX }),
    );
  }

  get isOpen(): boolean {
    return this.#controller !== undefined;
  }

  /** Sends changes as soon as the client has room for them. */
  offer(changed: Iterable<Topic>): void {
    for (const topic of changed) if (topic.sequence > 0 && this.topics.has(topic)) this.#pending.add(topic);
    this.#flush();
  }

  /** Call this about once a second. It sends a heartbeat when idle, and disconnects a client that stopped reading. */
  heartbeat(): void {
    const silentMs = this.#options.monotonic.now() - this.#lastWriteAt;
    if (this.#hasRoom()) {
      if (silentMs >= HEARTBEAT_MS) this.#write(': still here\n\n');
    } else if (silentMs >= STUCK_MS) {
      this.#controller?.error(new Error('the client stopped reading'));
      this.#close();
    }
  }

  /** Sends the reason and closes the stream. */
  end({ code, message, members }: Refusal): void {
    const controller = this.#controller;
    if (!controller) return;
    this.#close(); // first, because enqueue may call pull synchronously
    controller.enqueue(
      this.#encoder.encode(`event: end\ndata: ${JSON.stringify({ code, message, ...members })}\n\n`),
    );
    controller.close();
  }

  /** Writes pending changes while there is room. Guarded against reentry: a write may call pull before it returns. */
  #flush(): void {
    if (this.#isFlushing || this.#isPaying || this.#pending.size === 0) return;
    this.#isFlushing = true;
    this.#writePending();
    this.#isFlushing = false;
  }

  #writePending(): void {
    // In sequence order, so that an event id covers everything before it.
    for (const topic of [...this.#pending].sort((a, b) => a.sequence - b.sequence)) {
      if (topic.sequence === 0) {
        this.#pending.delete(topic); // its price was withdrawn meanwhile
        continue;
      }
      if (!this.#hasRoom()) return;
      if (this.#eventsPaid === 0 && !this.#pay()) return;
      this.#pending.delete(topic);
      this.#eventsPaid--;
      this.#write(`id: ${this.#options.eventId(topic)}\n${topic.event}`);
    }
  }

  /** Spends the unit for the next events. False if they must wait for it, or if the quota is exhausted. */
  #pay(): boolean {
    const spending = this.#options.pay();
    if (!(spending instanceof Promise)) return this.#onSpent(spending);
    this.#isPaying = true;
    void spending.then((spend) => {
      this.#isPaying = false;
      if (this.#onSpent(spend)) this.#flush();
    });
    return false;
  }

  #onSpent(spend: Spend): boolean {
    if (spend.ok) this.#eventsPaid = EVENTS_PER_UNIT;
    else this.end(this.#options.quotaRefusal(spend));
    return spend.ok;
  }

  #hasRoom(): boolean {
    return (this.#controller?.desiredSize ?? 0) > 0;
  }

  #write(text: string): void {
    this.#lastWriteAt = this.#options.monotonic.now();
    this.#controller?.enqueue(this.#encoder.encode(text));
  }

  #close(): void {
    this.#controller = undefined;
    this.#pending.clear();
    this.#options.onClose(this);
  }
}

function warningEvent(message: string): string {
  return `event: warning\ndata: ${JSON.stringify({ message: redactKeys(message) })}\n\n`;
}
