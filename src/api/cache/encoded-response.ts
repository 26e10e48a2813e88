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
  /** 206 if some of the requested symbols are unknown. */
  status: 200 | 206;
  madeAt: number;
}

/**
 * One encoding of an answer. Its body starts in a pooled buffer, which is sent as it is. Then this object has no body
 * any more, unless `retain` made it reusable before.
 */
export class EncodedResponse {
  readonly #options: EncodedResponseOptions;
  readonly #bodyLength: number;
  #unsent: PooledBuffer | undefined;
  /** Undefined while the body is only in a pooled buffer, and after that was sent. */
  #body: Uint8Array<ArrayBuffer> | undefined;
  #isRetained = false;
  #success: Packet | undefined;
  #notModified: Packet | undefined;

  constructor(options: EncodedResponseOptions) {
    this.#options = options;
    const { body } = options;
    this.#bodyLength = body.length;
    if ('packet' in body) this.#unsent = body.packet;
    else this.#body = body;
  }

  get etag(): string {
    return this.#options.etag;
  }

  /** A success. Only a retained response can be sent more than once. */
  success(name: RequestName, rateLimit: string | undefined): RawReply {
    if (this.#isRetained && !this.#unsent && name.givenId === undefined && rateLimit !== undefined) {
      this.#success ??= new Packet(this.#options.status, this.#successHead(), this.#bodyBytes());
      return this.#success.stamped(name.requestNumber, rateLimit);
    }
    const head = this.#successHead() + lastLines(name.requestId, rateLimit);
    const packet = this.#unsent;
    if (!packet || head.length > HEAD_ROOM) return joined(this.#options.status, head, this.#bodyBytes());
    this.#unsent = undefined;
    const start = HEAD_ROOM - head.length;
    packet.memory.latin1Write(head, start);
    packet.crop(start, HEAD_ROOM + this.#bodyLength);
    return { status: this.#options.status, bytes: packet, isAuthenticated: true, timer: undefined };
  }

  /** Makes it reusable. The buffer with the body is still sent, once. */
  retain(): void {
    if (this.#unsent) {
      this.#body = allocate(this.#bodyLength);
      this.#unsent.memory.copy(this.#body, 0, HEAD_ROOM, HEAD_ROOM + this.#bodyLength);
    }
    this.#isRetained = true;
  }

  /**
   * The response to HEAD, without Content-Length. HEAD is free, and the length of a body, plain or compressed, would reveal the
   * digits of its prices to a client that requests them in enough units.
   */
  headOnly({ requestId }: RequestName, rateLimit: string | undefined): RawReply {
    return joined(this.#options.status, this.#headWithoutLength() + lastLines(requestId, rateLimit), EMPTY);
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
    const response = new EncodedResponse({
      ...this.#options,
      body: compressed ?? gzip(this.#bodyBytes()),
      etag,
      bodyLines: `${bodyLines}Content-Encoding: gzip\r\n`,
    });
    if (this.#isRetained) response.retain();
    return response;
  }

  /** The same answer with another tag, for a 304. */
  tagged(etag: string): EncodedResponse {
    return new EncodedResponse({ ...this.#options, body: EMPTY, etag });
  }

  #bodyBytes(): Uint8Array<ArrayBuffer> {
    if (this.#body) return this.#body;
    if (!this.#unsent) throw new Error('an answer that was not retained was sent twice');
    return this.#unsent.memory.subarray(HEAD_ROOM, HEAD_ROOM + this.#bodyLength);
  }

  #successHead(): string {
    return `${this.#headWithoutLength()}Content-Length: ${this.#bodyLength}\r\n`;
  }

  #headWithoutLength(): string {
    const { status, bodyLines, lines, etag, madeAt } = this.#options;
    return `${firstLines(status, madeAt)}${lines}ETag: ${etag}\r\n${bodyLines}`;
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
  const buffer = bufferPool.acquireRounded(head.length + body.length);
  const { memory } = buffer;
  memory.latin1Write(head, 0);
  memory.set(body, head.length);
  return buffer;
}

function joined(status: number, head: string, body: Uint8Array): RawReply {
  return { status, bytes: join(head, body), isAuthenticated: true, timer: undefined };
}

/**
 * A response that is sent many times. The copies that are sent differ in two values:
 *
 *     HTTP/1.1 200 OK … X-Request-Id: 3kd81m0pa-0000002f ⏎ RateLimit: "month";r=998;t=1234 ⏎⏎ {"success":true, …
 *     └──────────────── head ────────────────────────└┘───────────┘└──── rate limit ───┘    └──── body ────
 */
class Packet {
  readonly #status: number;
  readonly #head: Bytes;
  readonly #body: Uint8Array;
  readonly #idAt: number;
  /** The first number of the block whose ids differ in their last digits alone. */
  #block = -1;

  constructor(status: number, head: string, body: Uint8Array) {
    this.#status = status;
    this.#idAt = head.length + REQUEST_ID.length;
    this.#head = Buffer.from(`${head}${REQUEST_ID}${requestIdText(0)}\r\n${RATE_LIMIT}`, 'latin1') as Bytes;
    this.#body = body;
  }

  stamped(requestNumber: number, rateLimit: string): RawReply {
    const head = this.#head;
    const block = requestNumber - (requestNumber % REQUEST_NUMBERS_PER_BLOCK);
    if (block !== this.#block) {
      head.latin1Write(requestIdText(block), this.#idAt);
      this.#block = block;
    }
    writeLastDigits(head, this.#idAt + LAST_DIGITS_AT, requestNumber);
    const end = `${rateLimit}\r\n\r\n`;
    const bodyAt = head.length + end.length;
    const bytes = bufferPool.acquireRounded(bodyAt + this.#body.length);
    const { memory } = bytes;
    head.copy(memory);
    memory.latin1Write(end, head.length);
    memory.set(this.#body, bodyAt);
    return { status: this.#status, bytes, isAuthenticated: true, timer: undefined };
  }
}
