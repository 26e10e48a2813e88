import { BodyFault, type Fault, fault } from '../message/fault.ts';
import { BodyReader } from '../parse/body.ts';
import type { Framing } from '../parse/fields.ts';
import { BODY_BYTES_MAX, SKIPPED_BYTES_MAX } from './limits.ts';

/**
 * The body of the request that is being answered. The handler may ask for it at any time, or never:
 *
 *     unasked ──► asked ──► delivered
 *        │          └─────► over       it is broken, or the client is gone
 *        └────────────────► over       it was answered without: what comes is skipped
 */
export class RequestBody {
  readonly #reader: BodyReader;
  readonly #onAsked: () => void;
  #asked: PromiseWithResolvers<string> | undefined;
  /** Why it cannot be had any more. */
  #over: Fault | undefined;
  /** Whether the client sends nothing of it until it is told to. */
  isHeldBack: boolean;

  constructor(framing: Framing, isHeldBack: boolean, onAsked: () => void) {
    this.#reader = new BodyReader(framing, BODY_BYTES_MAX);
    this.isHeldBack = isHeldBack;
    this.#onAsked = onAsked;
  }

  /** Who asks twice gets the same; who asks too late is told so. */
  text(): Promise<string> {
    if (this.#asked) return this.#asked.promise;
    this.#asked = Promise.withResolvers();
    this.#asked.promise.catch(() => {}); // who asked and does not look must not end the process
    if (this.#over) this.#asked.reject(new BodyFault(this.#over));
    else this.#onAsked();
    return this.#asked.promise;
  }

  /** Whether somebody waits for it. */
  get isAwaited(): boolean {
    return this.#asked !== undefined && this.#over === undefined;
  }

  get isDone(): boolean {
    return this.#reader.isDone;
  }

  /** The bytes that have come. */
  get length(): number {
    return this.#reader.length;
  }

  /** Whether it is known to be too long to be taken. */
  get fault(): Fault | undefined {
    return this.#reader.fault;
  }

  /** Takes what belongs to the body, and says how many bytes that were. */
  take(bytes: Uint8Array): number | Fault {
    this.isHeldBack = false;
    return this.#reader.take(bytes);
  }

  /** It is whole: who waits for it gets it. */
  deliver(): void {
    this.#asked?.resolve(new TextDecoder().decode(this.#reader.bytes));
  }

  fail(why: Fault): void {
    this.#over ??= why;
    this.#asked?.reject(new BodyFault(this.#over));
  }

  /**
   * The request is answered, and nobody wants the rest. True when the next request cannot be waited for behind it: it is
   * long, or may never be sent.
   */
  leave(): boolean {
    this.fail(fault(400, 'the request was answered already'));
    this.#reader.skip(SKIPPED_BYTES_MAX);
    return this.isHeldBack || this.#reader.left > SKIPPED_BYTES_MAX;
  }
}
