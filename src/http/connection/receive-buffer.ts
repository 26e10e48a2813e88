import { type Fault, fault } from '../message/fault.ts';
import type { Head } from '../parse/head.ts';
import type { HeadCache } from '../parse/head-cache.ts';
import { AHEAD_BYTES_MAX, HEAD_BYTES_MAX } from './limits.ts';
import type { RequestBody } from './request-body.ts';

/** What has arrived and was not read yet. */
export class ReceiveBuffer {
  #bytes: Buffer = EMPTY;
  #isPaused = false;

  get length(): number {
    return this.#bytes.length;
  }

  add(chunk: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
  }

  clear(): void {
    this.#bytes = EMPTY;
  }

  /** A client that sends on while its answers wait is not read from. */
  throttle(client: { pause(): void; resume(): void }, itsAnswersWait: boolean): void {
    const pauses = itsAnswersWait && this.length > AHEAD_BYTES_MAX;
    if (pauses === this.#isPaused) return;
    this.#isPaused = pauses;
    if (pauses) client.pause();
    else client.resume();
  }

  /** Undefined when its end is still to come. */
  takeHead(heads: HeadCache): Head | Fault | undefined {
    const head = heads.find(this.#bytes); // mostly it is all that has arrived
    if (head) {
      this.clear();
      return head;
    }
    while (this.#bytes[0] === CR && this.#bytes[1] === LF) this.#forget(2); // empty lines before a request mean nothing
    const end = this.#bytes.indexOf(HEAD_END);
    if (end >= 0 && end <= HEAD_BYTES_MAX) {
      const text = this.#bytes.toString('latin1', 0, end + HEAD_END.length);
      this.#forget(text.length);
      return heads.read(text);
    }
    if (this.#bytes.length <= HEAD_BYTES_MAX) return undefined;
    return fault(431, `the headers are longer than ${HEAD_BYTES_MAX} bytes`);
  }

  /** Gives a body what belongs to it. */
  takeBody(body: RequestBody): Fault | undefined {
    const taken = body.take(this.#bytes);
    if (typeof taken !== 'number') return taken;
    this.#forget(taken);
    return undefined;
  }

  /** A part of no bytes would keep the whole packet in memory that it is cut from. */
  #forget(count: number): void {
    this.#bytes = count === this.#bytes.length ? EMPTY : this.#bytes.subarray(count);
  }
}

const EMPTY = Buffer.alloc(0);
const HEAD_END = Buffer.from('\r\n\r\n');
const CR = 13;
const LF = 10;
