import { type Fault, fault } from '../message/fault.ts';
import type { Head } from '../parse/head.ts';
import type { HeaderCache } from '../parse/header-cache.ts';
import { HEAD_BYTES_MAX, PIPELINED_BYTES_MAX } from './limits.ts';
import type { RequestBody } from './request-body.ts';

/** Bytes that have arrived and were not parsed yet. */
export class ReceiveBuffer {
  #bytes: Buffer = EMPTY;
  /** Whether `#bytes` is the rest of a packet, and keeps the memory of all of it. */
  #isRest = false;
  #isPaused = false;
  /** The last request without a body: most clients repeat it, byte for byte or with another path or key. */
  #last: { bytes: Buffer; head: Head } | undefined;

  get length(): number {
    return this.#bytes.length;
  }

  add(chunk: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    this.#isRest = false;
  }

  clear(): void {
    this.#bytes = EMPTY;
  }

  /** Stops reading from a client that sends more while its earlier requests wait. */
  throttle(socket: { pause(): void; resume(): void }, isWaiting: boolean): void {
    const pauses = isWaiting && this.length > PIPELINED_BYTES_MAX;
    if (pauses === this.#isPaused) return;
    this.#isPaused = pauses;
    if (pauses) socket.pause();
    else socket.resume();
  }

  /** Removes the head of the next request. Returns undefined while the head is incomplete. */
  takeHead(headers: HeaderCache): Head | Fault | undefined {
    if (this.#last?.bytes.equals(this.#bytes)) {
      this.clear();
      return this.#last.head;
    }
    this.#dropEmptyLines();
    const end = this.#bytes.indexOf(HEAD_END);
    if (end >= 0 && end <= HEAD_BYTES_MAX) return this.#parseHead(end, headers);
    if (this.#bytes.length <= HEAD_BYTES_MAX) return undefined;
    return fault(431, `the headers are longer than ${HEAD_BYTES_MAX} bytes`);
  }

  #parseHead(end: number, headers: HeaderCache): Head | Fault {
    const head = headers.parse(this.#bytes.toString('latin1', 0, end), this.#last?.head);
    const length = end + HEAD_END.length;
    const isRemembered =
      length === this.#bytes.length &&
      length <= REMEMBERED_BYTES_MAX &&
      !('reason' in head) &&
      !head.framing &&
      !head.fields.hasCredentials;
    if (isRemembered) this.#last = { bytes: this.#isRest ? Buffer.from(this.#bytes) : this.#bytes, head };
    this.#drop(length);
    return head;
  }

  /** Moves the bytes that belong to a body into it. */
  takeBody(body: RequestBody): Fault | undefined {
    const taken = body.take(this.#bytes);
    if (typeof taken !== 'number') return taken;
    this.#drop(taken);
    return undefined;
  }

  /** RFC 9112, 2.2: empty lines before a request are ignored. A packet can contain 250,000 of them. */
  #dropEmptyLines(): void {
    let at = 0;
    while (this.#bytes[at] === CR && this.#bytes[at + 1] === LF) at += 2;
    if (at > 0) this.#drop(at);
  }

  /** An empty view would keep the memory of the whole packet. */
  #drop(count: number): void {
    this.#bytes = count === this.#bytes.length ? EMPTY : this.#bytes.subarray(count);
    this.#isRest = true;
  }
}

/** Longer heads are not remembered, so that a thousand connections take no more than a megabyte for them. */
const REMEMBERED_BYTES_MAX = 1_024;

const EMPTY = Buffer.alloc(0);
const HEAD_END = Buffer.from('\r\n\r\n');
const CR = 13;
const LF = 10;
