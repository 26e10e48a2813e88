import { allocate, type Bytes, bufferPool, type PooledBuffer } from '../../http/message/buffer-pool.ts';
import type { RawReply } from '../../http/message/reply.ts';
import { firstLines } from '../../http/message/serialize.ts';
import { HEAD_ROOM, type UnsentBody } from '../model/byte-writer.ts';
import { gzip } from '../response/gzip.ts';
import {
  LAST_DIGITS_AT,
  REQUEST_NUMBERS_PER_BLOCK,
  type RequestName,
  requestIdText,
  writeLastDigits,
} from '../telemetry/request-id.ts';

export interface EncodedResponseOptions {
  body: Uint8Array<ArrayBuffer> | UnsentBody;
  etag: string;
  /** The header lines about the body, which a 304 lacks. */
  bodyLines: string;
  /** The other header lines, without `X-Request-Id` and `RateLimit`, which differ by request. */
  lines: string;
  madeAt: number;
}

/**
 * One encoding of an answer. Its body starts in a pooled buffer, which is sent as it is. Then this object has no body
 * any more, unless `retain` made it reusable before.
 */
export class EncodedResponse {
  readonly #options: EncodedResponseOptions;
  readonly #bodyLength: number;
  /** Undefined while the body is in a pooled buffer, and after that was sent. */
  #body: Uint8Array<ArrayBuffer> | undefined;
  #packet: PooledBuffer | undefined;
  /** The memory of a retained body, until its head room is used. */
  #retained: Bytes | undefined;
  #success: Packet | undefined;
  #notModified: Packet | undefined;

  constructor(options: EncodedResponseOptions) {
    this.#options = options;
    const { body } = options;
    this.#bodyLength = body.length;
    if ('packet' in body) this.#packet = body.packet;
    else this.#body = body;
  }

  get etag(): string {
    return this.#options.etag;
  }

  /** A 200. Only a retained response can be sent more than once. */
  success(name: RequestName, rateLimit: string | undefined): RawReply {
    if (!this.#packet && !this.#retained && name.givenId === undefined && rateLimit !== undefined) {
      this.#success ??= new Packet(200, this.#successHead(), this.#bodyBytes());
      return this.#success.stamped(name.requestNumber, rateLimit);
    }
    const head = this.#successHead() + lastLines(name.requestId, rateLimit);
    if (head.length > HEAD_ROOM) return joined(200, head, this.#bodyBytes());
    const [start, end] = [HEAD_ROOM - head.length, HEAD_ROOM + this.#bodyLength];
    if (this.#packet) {
      const packet = this.#packet;
      this.#packet = undefined;
      packet.memory.latin1Write(head, start);
      packet.crop(start, end);
      return { status: 200, bytes: packet, isAuthenticated: true, timer: undefined };
    }
    if (this.#retained) {
      const memory = this.#retained;
      this.#retained = undefined;
      memory.latin1Write(head, start);
      return { status: 200, bytes: memory.subarray(start, end), isAuthenticated: true, timer: undefined };
    }
    return joined(200, head, this.#bodyBytes());
  }

  /** Makes it reusable: its memory does not return to the pool. */
  retain(): void {
    if (!this.#packet) return;
    this.#retained = this.#packet.keep();
    this.#packet = undefined;
    this.#body = this.#retained.subarray(HEAD_ROOM, HEAD_ROOM + this.#bodyLength);
  }

  /**
   * The response to HEAD, without Content-Length. HEAD is free, and the length of a body, plain or compressed, would reveal the
   * digits of its prices to a client that requests them in enough units.
   */
  headOnly({ requestId }: RequestName, rateLimit: string | undefined): RawReply {
    return joined(200, this.#headWithoutLength() + lastLines(requestId, rateLimit), EMPTY);
  }

  /** A 304, with the headers of the response that it stands for. */
  notModified(name: RequestName, rateLimit: string | undefined): RawReply {
    if (name.givenId === undefined && rateLimit !== undefined) {
      this.#notModified ??= new Packet(304, this.#notModifiedHead(), EMPTY);
      return this.#notModified.stamped(name.requestNumber, rateLimit);
    }
    return joined(304, this.#notModifiedHead() + lastLines(name.requestId, rateLimit), EMPTY);
  }

  /** The same answer in gzip. */
  gzipped(etag: string, compressed?: Uint8Array<ArrayBuffer>): EncodedResponse {
    const { bodyLines } = this.#options;
    return new EncodedResponse({
      ...this.#options,
      body: compressed ?? gzip(this.#bodyBytes()),
      etag,
      bodyLines: `${bodyLines}Content-Encoding: gzip\r\n`,
    });
  }

  /** The same answer with another tag, for a 304. */
  tagged(etag: string): EncodedResponse {
    return new EncodedResponse({ ...this.#options, body: EMPTY, etag });
  }

  #bodyBytes(): Uint8Array<ArrayBuffer> {
    if (this.#body) return this.#body;
    if (!this.#packet) throw new Error('an answer that was not retained was sent twice');
    return this.#packet.memory.subarray(HEAD_ROOM, HEAD_ROOM + this.#bodyLength);
  }

  #successHead(): string {
    return `${this.#headWithoutLength()}Content-Length: ${this.#bodyLength}\r\n`;
  }

  #headWithoutLength(): string {
    const { bodyLines, lines, etag, madeAt } = this.#options;
    return `${firstLines(200, madeAt)}${lines}ETag: ${etag}\r\n${bodyLines}`;
  }

  #notModifiedHead(): string {
    const { lines, etag, madeAt } = this.#options;
    return `${firstLines(304, madeAt)}${lines}ETag: ${etag}\r\n`;
  }
}

const EMPTY = new Uint8Array();

const REQUEST_ID = 'X-Request-Id: ';
const RATE_LIMIT = 'RateLimit: ';

/** The end of a head. */
function lastLines(requestId: string, rateLimit: string | undefined): string {
  const line = `${REQUEST_ID}${requestId}\r\n`;
  return rateLimit === undefined ? `${line}\r\n` : `${line}${RATE_LIMIT}${rateLimit}\r\n\r\n`;
}

function join(head: string, body: Uint8Array): PooledBuffer {
  const buffer = bufferPool.acquire(head.length + body.length);
  const { memory } = buffer;
  memory.latin1Write(head, 0);
  memory.set(body, head.length);
  return buffer;
}

function joined(status: number, head: string, body: Uint8Array): RawReply {
  return { status, bytes: join(head, body), isAuthenticated: true, timer: undefined };
}

/**
 * A whole response as bytes. The copies that are sent differ in two values:
 *
 *     HTTP/1.1 200 OK … X-Request-Id: 3kd81m0pa-0000002f ⏎ RateLimit: "month";r=998;t=1234 ⏎⏎ {"success":true, …
 *                                                     └┘              └──── rate limit ───┘
 */
class Packet {
  readonly #status: number;
  readonly #head: string;
  readonly #body: Uint8Array;
  #bytes: Bytes = allocate(0);
  readonly #digitsAt: number;
  /** The first number of the block whose ids differ in their last digits alone. */
  #block = -1;
  readonly #rateLimitAt: number;
  #rateLimitLength = -1;

  constructor(status: number, head: string, body: Uint8Array) {
    this.#status = status;
    this.#head = head;
    this.#body = body;
    const idAt = head.length + REQUEST_ID.length;
    this.#digitsAt = idAt + LAST_DIGITS_AT;
    this.#rateLimitAt = idAt + requestIdText(0).length + '\r\n'.length + RATE_LIMIT.length;
  }

  stamped(requestNumber: number, rateLimit: string): RawReply {
    const block = requestNumber - (requestNumber % REQUEST_NUMBERS_PER_BLOCK);
    if (rateLimit.length !== this.#rateLimitLength || block !== this.#block) {
      this.#write(block, rateLimit);
    }
    const bytes = bufferPool.acquire(this.#bytes.length);
    const { memory } = bytes;
    this.#bytes.copy(memory);
    writeLastDigits(memory, this.#digitsAt, requestNumber);
    memory.latin1Write(rateLimit, this.#rateLimitAt);
    return { status: this.#status, bytes, isAuthenticated: true, timer: undefined };
  }

  #write(block: number, rateLimit: string): void {
    const head = this.#head + lastLines(requestIdText(block), rateLimit);
    if (rateLimit.length === this.#rateLimitLength) this.#bytes.latin1Write(head, 0);
    else this.#bytes = join(head, this.#body).keep();
    this.#block = block;
    this.#rateLimitLength = rateLimit.length;
  }
}
