import type { Customer } from '../../gate/directory/customer.ts';
import { type Bytes, bufferPool, type PooledBuffer } from '../../http/message/buffer-pool.ts';
import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import type { RawReply } from '../../http/message/reply.ts';
import { headerLines } from '../../http/message/serialize.ts';
import type { Plan } from '../../ledger/accounts/plans.ts';
import type { Finality } from '../model/answer.ts';
import { HEAD_ROOM } from '../model/byte-writer.ts';
import { etagOfEncoding, etagOfMatch, matches } from '../response/etag.ts';
import type { Body } from '../response/format.ts';
import { acceptsGzip, gzip, PLAIN_BYTES_MAX } from '../response/gzip.ts';
import { JSON_TYPE } from '../response/headers.ts';
import { prependRequestLines, type RateLimit, requestLinesMax } from '../response/request-lines.ts';
import { type PlanHeads, type SharedHead, sharedHeads } from '../response/shared-head.ts';
import { writeTimestamp } from '../response/timestamp.ts';
import type { RequestId } from '../telemetry/request-id.ts';
import type { AnswerValidity } from './answer-validity.ts';

export interface CachedAnswerOptions {
  body: Body;
  /** The body in gzip, if it is compressed already. */
  gzipped?: Uint8Array<ArrayBuffer> | undefined;
  etag: string;
  status: 200 | 206;
  finality: Finality;
  /** The `Link` header to the next page. */
  link: string | undefined;
  /** The headers with the warnings of a table. */
  warnings: Readonly<Record<string, string>>;
  plan: Plan;
}

/** The recipient of a response. */
export interface Recipient {
  readonly request: IncomingRequest;
  readonly id: RequestId;
  readonly customer: Customer | undefined;
  /** In ms. */
  readonly now: number;
}

/**
 * An encoded answer. Its body starts in a pooled buffer, which the first send gives away. Call `retain`
 * before that to keep the body; a retained answer is sent again while it is current:
 *
 *     HTTP/1.1 200 OK … RateLimit-Policy: … ⏎ X-Request-Id: … RateLimit: … ⏎ ETag: … ⏎⏎ {"success":true,"timestamp":… }
 *     └─ of the limits, with the date ──────┘ └─ of the request ────────────┘ └─ of the answer, with the time now ──────┘
 */
export class CachedAnswer {
  readonly plan: Plan;
  readonly etag: string;
  #validity: AnswerValidity | undefined;
  readonly #length: number;
  readonly #heads: PlanHeads;
  readonly #status: 200 | 206;
  #unsent: PooledBuffer | undefined;
  /** What is retained, one character per byte: a string takes less memory than a buffer. It begins with the lines of the answer. */
  #text: string | undefined;
  readonly #hasTimestamp: boolean;
  readonly #type: string;
  /** Header lines that few answers have. */
  readonly #moreLines: string;
  #gzipped: Uint8Array<ArrayBuffer> | undefined;
  /** The second of the timestamp in `#gzipped`. */
  #gzippedAt = Number.NaN;

  constructor({ body, gzipped, etag, status, finality, link, warnings, plan }: CachedAnswerOptions) {
    this.plan = plan;
    this.etag = etag;
    this.#heads = sharedHeads(plan, finality);
    this.#status = status;
    this.#type = body.type;
    this.#moreLines = moreLines(link, warnings, body.type);
    this.#length = body.length;
    this.#hasTimestamp = body.contentFrom > 0;
    this.#unsent = body.packet;
    this.#gzipped = gzipped;
  }

  /** Upper bound of its memory use, once it is retained. */
  get bytes(): number {
    const copies = this.#isCompressible ? 1 + COMPRESSED_MAX : 1;
    return OBJECT_BYTES + Math.ceil(copies * this.#length) + (this.#validity?.bytes ?? 0);
  }

  get #isCompressible(): boolean {
    return this.#length > PLAIN_BYTES_MAX;
  }

  /** Whether rebuilding it would give the same answer, apart from the timestamp. */
  isCurrent(now: number): boolean {
    return this.#validity?.isValidAt(now) ?? false;
  }

  /** Makes it reusable. Without this its memory returns to the pool once it is sent, and sending it again throws. */
  retain(validity: AnswerValidity): void {
    this.#text = this.#wholeText();
    this.#validity = validity;
  }

  /** Whether one of the tags in `If-None-Match` is its own. */
  isUnchanged(ifNoneMatch: string): boolean {
    return matches(ifNoneMatch, this.etag);
  }

  /** The whole response, in the encoding that the client accepts. Only a retained answer can be sent more than once. */
  send(to: Recipient, rateLimit: RateLimit | undefined): RawReply {
    const isGzip = this.#isCompressible && acceptsGzip(to.request.headers.get('accept-encoding'));
    if (isGzip) return this.#sendGzipped(to, rateLimit);
    const shared = this.#headFor(to, this.#status);
    if (this.#unsent) {
      const lines = this.#bodyLines;
      const fits = shared.length + requestLinesMax(to.id) + lines.length <= HEAD_ROOM;
      if (fits) return reply(this.#status, shared, this.#takeUnsent(lines, to.now), to, rateLimit);
    }
    const packet = packetFor(shared, to, this.#text ?? this.#wholeText(), 0);
    this.#stamped(packet.memory, packet.end - this.#length, to.now);
    return reply(this.#status, shared, packet, to, rateLimit);
  }

  /**
   * The response to HEAD, without Content-Length and the same for every `Accept-Encoding`. HEAD is free, and the length of a
   * body, plain or compressed, would reveal the digits of its prices to a client that requests them in enough units.
   */
  headOnly(to: Recipient, rateLimit: RateLimit | undefined): RawReply {
    const lines = `${this.#tagLines(this.etag)}Content-Type: ${this.#type}\r\n\r\n`;
    return this.#withoutBody(this.#status, lines, to, rateLimit);
  }

  /**
   * A 304, with the headers of the response that it stands for. It is not charged, so it must not reveal whether the body is
   * long enough to be compressed: it carries the tag that the client sent.
   */
  notModified(ifNoneMatch: string, to: Recipient, rateLimit: RateLimit | undefined): RawReply {
    const lines = `${this.#tagLines(etagOfMatch(ifNoneMatch, this.etag))}\r\n`;
    return this.#withoutBody(304, lines, to, rateLimit);
  }

  /** The buffer in which the body was built, with the lines of the answer in front of it. */
  #takeUnsent(lines: string, now: number): PooledBuffer {
    const unsent = this.#unsent!;
    this.#unsent = undefined;
    const start = HEAD_ROOM - lines.length;
    unsent.crop(start, HEAD_ROOM + this.#length);
    unsent.memory.latin1Write(lines, start);
    this.#stamped(unsent.memory, HEAD_ROOM, now);
    return unsent;
  }

  #sendGzipped(to: Recipient, rateLimit: RateLimit | undefined): RawReply {
    const body = this.#compressed(to.now);
    const lines = this.#linesOf(etagOfEncoding(this.etag, 'gzip'), 'Content-Encoding: gzip\r\n', body.length);
    const shared = this.#headFor(to, this.#status);
    const packet = packetFor(shared, to, lines, body.length);
    packet.memory.set(body, packet.end - body.length);
    return reply(this.#status, shared, packet, to, rateLimit);
  }

  /** The body in gzip. A retained one keeps it, for the second of its timestamp if it has one. */
  #compressed(now: number): Uint8Array<ArrayBuffer> {
    const second = Math.floor(now / 1000);
    if (this.#gzipped && (!this.#hasTimestamp || this.#gzippedAt === second)) return this.#gzipped;
    const compressed = this.#compress(now);
    if (this.#text !== undefined) {
      this.#gzipped = compressed;
      this.#gzippedAt = second;
    }
    return compressed;
  }

  #compress(now: number): Uint8Array<ArrayBuffer> {
    const unsent = this.#unsent;
    if (!unsent) {
      const text = this.#text ?? this.#wholeText();
      return gzip(this.#stamped(Buffer.from(text.slice(-this.#length), 'latin1') as Bytes, 0, now));
    }
    this.#unsent = undefined;
    unsent.crop(HEAD_ROOM, HEAD_ROOM + this.#length);
    const compressed = gzip(this.#stamped(unsent.take(), 0, now));
    unsent.release();
    return compressed;
  }

  /** Writes the time of the response into the body at an offset, if it has one. */
  #stamped(memory: Bytes, bodyAt: number, now: number): Bytes {
    if (this.#hasTimestamp) writeTimestamp(memory, bodyAt, now);
    return memory;
  }

  #wholeText(): string {
    if (!this.#unsent) throw new Error('an answer that was not retained was sent twice');
    const body = this.#unsent.memory.toString('latin1', HEAD_ROOM, HEAD_ROOM + this.#length);
    return this.#bodyLines + body;
  }

  #withoutBody(
    status: 200 | 206 | 304,
    lines: string,
    to: Recipient,
    rateLimit: RateLimit | undefined,
  ): RawReply {
    const shared = this.#headFor(to, status);
    return reply(status, shared, packetFor(shared, to, lines, 0), to, rateLimit);
  }

  #headFor({ customer }: Recipient, status: 200 | 206 | 304): SharedHead {
    return (customer?.visitors ? this.#heads.visitors : this.#heads.customers)[status];
  }

  get #bodyLines(): string {
    return this.#linesOf(this.etag, '', this.#length);
  }

  #linesOf(etag: string, encoding: string, length: number): string {
    return `${this.#tagLines(etag)}Content-Type: ${this.#type}\r\n${encoding}Content-Length: ${length}\r\n\r\n`;
  }

  #tagLines(etag: string): string {
    return `${this.#moreLines}ETag: ${etag}\r\n`;
  }
}

/** Objects of a retained answer, measured. */
const OBJECT_BYTES = 700;
/** The share of its length that a body takes in gzip, at most: digits take half of it. */
const COMPRESSED_MAX = 0.6;

function moreLines(
  link: string | undefined,
  warnings: Readonly<Record<string, string>>,
  type: string,
): string {
  const lines = headerLines(link === undefined ? warnings : { Link: link, ...warnings });
  // Tools that read files over HTTP send range requests, which are not supported.
  return type === JSON_TYPE ? lines : `${lines}Accept-Ranges: none\r\n`;
}

/** A buffer that holds the lines of an answer, with room for the rest of the head before them and for the body after them. */
function packetFor(shared: SharedHead, { id }: Recipient, lines: string, bodyLength: number): PooledBuffer {
  const start = shared.length + requestLinesMax(id);
  const end = start + lines.length + bodyLength;
  const packet = bufferPool.acquireRounded(end);
  packet.memory.latin1Write(lines, start);
  packet.crop(start, end);
  return packet;
}

/** Completes the head. */
function reply(
  status: number,
  shared: SharedHead,
  packet: PooledBuffer,
  { id, now }: Recipient,
  rateLimit: RateLimit | undefined,
): RawReply {
  const { memory, start, end } = packet;
  const sharedAt = prependRequestLines(memory, start, id, rateLimit) - shared.length;
  shared.write(memory, sharedAt, now);
  packet.crop(sharedAt, end);
  return { status, bytes: packet, isAuthenticated: true, timer: undefined };
}
