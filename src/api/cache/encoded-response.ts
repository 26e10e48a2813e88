import { type Bytes, borrow, bytesFor } from '../../http/message/buffer-pool.ts';
import { firstLines, type RawReply } from '../../http/message/reply.ts';
import { gzip } from '../response/gzip.ts';
import {
  LAST_DIGITS_AT,
  REQUEST_NUMBERS_PER_BLOCK,
  requestIdText,
  writeLastDigits,
} from '../telemetry/request-id.ts';

/** What most heads fit in. */
export const HEAD_ROOM = 1_024;

export interface RepresentationOptions {
  body: Uint8Array<ArrayBuffer>;
  /** The memory that the body lies in, with room for one head in front. */
  packet: Bytes | undefined;
  etag: string;
  /** The header lines that speak of the body, which a 304 lacks. */
  bodyLines: string;
  /** The other header lines, all but `X-Request-Id` and `RateLimit`, which differ from request to request. */
  lines: string;
  madeAt: number;
}

/** One encoding of an answer, and how it is sent: anew, or as bytes that were written before. */
export class Representation {
  readonly #options: RepresentationOptions;
  #isPacketUsed = false;
  #isGivenAway = false;
  #success: Packet | undefined;
  #notModified: Packet | undefined;

  constructor(options: RepresentationOptions) {
    this.#options = options;
  }

  get etag(): string {
    return this.#options.etag;
  }

  success(requestId: string, rateLimit: string | undefined): RawReply {
    const head = this.#successHead() + lastLines(requestId, rateLimit);
    const { body, packet } = this.#options;
    if (!packet || this.#isPacketUsed || head.length > HEAD_ROOM) return joined(200, head, body);
    this.#isPacketUsed = true;
    const start = HEAD_ROOM - head.length;
    packet.latin1Write(head, start);
    const bytes = packet.subarray(start, HEAD_ROOM + body.length);
    return {
      status: 200,
      bytes,
      borrowed: this.#isGivenAway ? packet : undefined,
      isAuthenticated: true,
      timer: undefined,
    };
  }

  /** Nobody keeps it: it is sent once, and its memory may then serve others. */
  giveAway(): void {
    this.#isGivenAway = true;
  }

  /**
   * What HEAD gets. The length is left out: HEAD is free, and the length of a body, or of a compressed one, tells the
   * digits of its prices to whoever asks for them in enough units.
   */
  headOnly(requestId: string, rateLimit: string | undefined): RawReply {
    return joined(200, this.#headWithoutLength() + lastLines(requestId, rateLimit), EMPTY);
  }

  /** Its headers are those of the answer that it stands for. */
  notModified(requestId: string, rateLimit: string | undefined): RawReply {
    return joined(304, this.#notModifiedHead() + lastLines(requestId, rateLimit), EMPTY);
  }

  /** The same, from the second time on, with an id by its number. */
  successAgain(requestNumber: number, rateLimit: string): RawReply {
    this.#success ??= new Packet(200, this.#successHead(), this.#options.body);
    return this.#success.stamped(requestNumber, rateLimit);
  }

  notModifiedAgain(requestNumber: number, rateLimit: string): RawReply {
    this.#notModified ??= new Packet(304, this.#notModifiedHead(), EMPTY);
    return this.#notModified.stamped(requestNumber, rateLimit);
  }

  /** The same answer in gzip, which is another representation. */
  gzipped(etag: string, compressed?: Uint8Array<ArrayBuffer>): Representation {
    const { body, bodyLines } = this.#options;
    return new Representation({
      ...this.#options,
      body: compressed ?? gzip(body),
      packet: undefined,
      etag,
      bodyLines: `${bodyLines}Content-Encoding: gzip\r\n`,
    });
  }

  /** The same answer under another tag, for a 304. */
  tagged(etag: string): Representation {
    return new Representation({ ...this.#options, body: EMPTY, packet: undefined, etag });
  }

  #successHead(): string {
    return `${this.#headWithoutLength()}Content-Length: ${this.#options.body.length}\r\n`;
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

function join(head: string, body: Uint8Array): Bytes {
  const bytes = borrow(head.length + body.length);
  bytes.latin1Write(head, 0);
  bytes.set(body, head.length);
  return bytes;
}

function joined(status: number, head: string, body: Uint8Array): RawReply {
  const bytes = join(head, body);
  return { status, bytes, borrowed: bytes, isAuthenticated: true, timer: undefined };
}

/**
 * A whole response as bytes. Copies of it are sent that differ in two values:
 *
 *     HTTP/1.1 200 OK … X-Request-Id: 3kd81m0pa-0000002f ⏎ RateLimit: "month";r=998;t=1234 ⏎⏎ {"success":true, …
 *                                                     └┘              └──── rate limit ───┘
 */
class Packet {
  readonly #status: number;
  readonly #head: string;
  readonly #body: Uint8Array;
  #bytes: Bytes = bytesFor(0);
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
    const bytes = borrow(this.#bytes.length);
    this.#bytes.copy(bytes);
    writeLastDigits(bytes, this.#digitsAt, requestNumber);
    bytes.latin1Write(rateLimit, this.#rateLimitAt);
    return { status: this.#status, bytes, borrowed: bytes, isAuthenticated: true, timer: undefined };
  }

  #write(block: number, rateLimit: string): void {
    const head = this.#head + lastLines(requestIdText(block), rateLimit);
    if (rateLimit.length === this.#rateLimitLength) this.#bytes.latin1Write(head, 0);
    else this.#bytes = join(head, this.#body);
    this.#block = block;
    this.#rateLimitLength = rateLimit.length;
  }
}
