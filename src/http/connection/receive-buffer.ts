import { type Fault, fault } from '../message/fault.ts';
import type { Head } from '../parse/head.ts';
import type { HeaderCache } from '../parse/header-cache.ts';
import { KnownHead } from '../parse/known-head.ts';
import { HEAD_BYTES_MAX, PIPELINED_BYTES_MAX } from './limits.ts';
import type { RequestBody } from './request-body.ts';

/** Bytes that have arrived and were not parsed yet. */
export class ReceiveBuffer {
  #bytes: Buffer = EMPTY;
  /** Whether `#bytes` is the rest of a packet, and keeps the memory of all of it. */
  #isRest = false;
  #isPaused = false;
  /** The last two heads that differ in more than their path and API key: most requests are like one of them. */
  #last: KnownHead | undefined;
  #older: KnownHead | undefined;

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
    const known = this.#takeKnownHead();
    if (known) return known;
    this.#dropEmptyLines();
    const end = this.#bytes.indexOf(HEAD_END);
    if (end >= 0 && end <= HEAD_BYTES_MAX) return this.#parseHead(end, headers);
    if (this.#bytes.length <= HEAD_BYTES_MAX) return undefined;
    return fault(431, `the headers are longer than ${HEAD_BYTES_MAX} bytes`);
  }

  /** Removes the next head if it is like one of the last two, and nothing follows it. */
  #takeKnownHead(): Head | undefined {
    if (this.#bytes.length > KNOWN_BYTES_MAX) return undefined;
    this.#leavePacket();
    let head = this.#last?.match(this.#bytes);
    if (!head) {
      head = this.#older?.match(this.#bytes);
      if (!head) return undefined;
      [this.#last, this.#older] = [this.#older, this.#last];
    }
    this.clear();
    return head;
  }

  #parseHead(end: number, headers: HeaderCache): Head | Fault {
    const head = headers.parse(this.#bytes.toString('latin1', 0, end));
    const length = end + HEAD_END.length;
    if (length === this.#bytes.length && length <= KNOWN_BYTES_MAX && !('reason' in head))
      this.#remember(head);
    this.#drop(length);
    return head;
  }

  #remember(head: Head): void {
    if (head.framing || head.fields.hasCredentials) return;
    this.#leavePacket();
    this.#older = this.#last;
    this.#last = new KnownHead(this.#bytes, head);
  }

  /** Copies bytes that may be remembered, so that they do not keep the memory of their packet. */
  #leavePacket(): void {
    if (this.#isRest) this.#bytes = Buffer.from(this.#bytes);
    this.#isRest = false;
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

/** Longer heads are not remembered, so that a thousand connections take no more than two megabytes for them. */
const KNOWN_BYTES_MAX = 1_024;

const EMPTY = Buffer.alloc(0);
const HEAD_END = Buffer.from('\r\n\r\n');
const CR = 13;
const LF = 10;
