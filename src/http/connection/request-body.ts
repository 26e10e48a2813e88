import { BodyFault, type Fault, fault } from '../message/fault.ts';
import { BodyParser } from '../parse/body.ts';
import type { Framing } from '../parse/fields.ts';
import { BODY_BYTES_MAX, SKIPPED_BYTES_MAX } from './limits.ts';

/**
 * The body of the request in progress. The handler may read it at any time, or never:
 *
 *     unread ──► awaited ──► delivered
 *        │          └──────► failed     it is invalid, or the client has disconnected
 *        └─────────────────► failed     the response is sent: the rest is skipped
 */
export class RequestBody {
  readonly #parser: BodyParser;
  readonly #onRead: () => void;
  #reading: PromiseWithResolvers<Uint8Array> | undefined;
  /** Why the body can no longer be read. */
  #failure: Fault | undefined;
  /** Whether the client waits for "100 Continue" before it sends the body. */
  awaitsContinue: boolean;

  constructor(framing: Framing, awaitsContinue: boolean, onRead: () => void) {
    this.#parser = new BodyParser(framing, BODY_BYTES_MAX);
    this.awaitsContinue = awaitsContinue;
    this.#onRead = onRead;
  }

  /** Returns the same promise on every call. It rejects if the response was sent before the first call. */
  bytes(): Promise<Uint8Array> {
    if (this.#reading) return this.#reading.promise;
    this.#reading = Promise.withResolvers();
    // A handler that drops the promise must not end the process with an unhandled rejection.
    this.#reading.promise.catch(() => {});
    if (this.#failure) this.#reading.reject(new BodyFault(this.#failure));
    else this.#onRead();
    return this.#reading.promise;
  }

  /** Whether the handler waits for the body. */
  get isAwaited(): boolean {
    return this.#reading !== undefined && this.#failure === undefined;
  }

  get isComplete(): boolean {
    return this.#parser.isComplete;
  }

  /** How many bytes have arrived. */
  get length(): number {
    return this.#parser.length;
  }

  /** Set if the body is already known to be too long. */
  get fault(): Fault | undefined {
    return this.#parser.fault;
  }

  /** Consumes the bytes that belong to the body, and returns their number. */
  take(bytes: Uint8Array): number | Fault {
    this.awaitsContinue = false;
    return this.#parser.take(bytes);
  }

  /** Hands the complete body to the handler. */
  deliver(): void {
    this.#reading?.resolve(this.#parser.bytes);
  }

  fail(reason: Fault): void {
    this.#failure ??= reason;
    this.#reading?.reject(new BodyFault(this.#failure));
  }

  /**
   * Skips the rest of the body once the response is there. Returns true if the connection has to be closed instead,
   * because the rest is long or may never be sent.
   */
  skip(): boolean {
    this.fail(fault(400, 'the response was already sent'));
    this.#parser.skip(SKIPPED_BYTES_MAX);
    return this.awaitsContinue || this.#parser.remaining > SKIPPED_BYTES_MAX;
  }
}
