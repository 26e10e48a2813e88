import { bytesFor } from '../http/bytes.ts';
import { firstLines, type Ready } from '../http/reply.ts';
import { gzip } from './encoding.ts';

export interface RepresentationOptions {
  body: Uint8Array<ArrayBuffer>;
  etag: string;
  /** The header lines that speak of the body, which a 304 lacks. */
  bodyLines: string;
  /** The other header lines, all but `RateLimit`, which differs from request to request. */
  lines: string;
  madeAt: number;
}

/** One encoding of an answer, and how it is sent: anew, or as bytes that were written before. */
export class Representation {
  readonly #options: RepresentationOptions;
  #success: Packet | undefined;
  #notModified: Packet | undefined;

  constructor(options: RepresentationOptions) {
    this.#options = options;
  }

  get etag(): string {
    return this.#options.etag;
  }

  success(rateLimit: string | undefined): Ready {
    return { status: 200, bytes: assemble(this.#successHead(), rateLimit, this.#options.body) };
  }

  /** What a success would say, without its body. */
  headOnly(rateLimit: string | undefined): Ready {
    return { status: 200, bytes: assemble(this.#successHead(), rateLimit, EMPTY) };
  }

  /** Its headers are those of the answer that it stands for. */
  notModified(rateLimit: string | undefined): Ready {
    return { status: 304, bytes: assemble(this.#notModifiedHead(), rateLimit, EMPTY) };
  }

  /** The same, from the second time on. */
  successAgain(rateLimit: string): Ready {
    this.#success ??= new Packet(200, this.#successHead(), this.#options.body);
    return this.#success.stamped(rateLimit);
  }

  notModifiedAgain(rateLimit: string): Ready {
    this.#notModified ??= new Packet(304, this.#notModifiedHead(), EMPTY);
    return this.#notModified.stamped(rateLimit);
  }

  /** The same answer in gzip, which is another representation. */
  gzipped(etag: string): Representation {
    const { body, bodyLines } = this.#options;
    return new Representation({
      ...this.#options,
      body: gzip(body),
      etag,
      bodyLines: `${bodyLines}Content-Encoding: gzip\r\n`,
    });
  }

  #successHead(): string {
    const { body, bodyLines, lines, etag, madeAt } = this.#options;
    return `${firstLines(200, madeAt)}${lines}ETag: ${etag}\r\n${bodyLines}Content-Length: ${body.length}\r\n`;
  }

  #notModifiedHead(): string {
    const { lines, etag, madeAt } = this.#options;
    return `${firstLines(304, madeAt)}${lines}ETag: ${etag}\r\n`;
  }
}

const EMPTY = new Uint8Array();

function assemble(head: string, rateLimit: string | undefined, body: Uint8Array): Buffer {
  const last = rateLimit === undefined ? '\r\n' : `RateLimit: ${rateLimit}\r\n\r\n`;
  const bytes = bytesFor(head.length + last.length + body.length);
  bytes.latin1Write(head + last, 0);
  bytes.set(body, head.length + last.length);
  return bytes;
}

/**
 * A whole answer in one piece of memory, of which copies are sent that differ in one value:
 *
 *     HTTP/1.1 200 OK … RateLimit: "month";r=998;t=1234 ⏎⏎ {"success":true, …
 *                                  └── stamped anew ──┘
 */
class Packet {
  readonly #status: number;
  readonly #head: string;
  readonly #body: Uint8Array;
  #bytes: Buffer = Buffer.alloc(0);
  readonly #stampAt: number;
  #stampLength = -1;

  constructor(status: number, head: string, body: Uint8Array) {
    this.#status = status;
    this.#head = head;
    this.#body = body;
    this.#stampAt = head.length + 'RateLimit: '.length;
  }

  stamped(rateLimit: string): Ready {
    if (rateLimit.length !== this.#stampLength) {
      this.#bytes = assemble(this.#head, rateLimit, this.#body);
      this.#stampLength = rateLimit.length;
    }
    const bytes = bytesFor(this.#bytes.length);
    this.#bytes.copy(bytes);
    bytes.latin1Write(rateLimit, this.#stampAt);
    return { status: this.#status, bytes };
  }
}
