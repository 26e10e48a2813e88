import { headText, type Ready, type Reply, reply } from '../http/reply.ts';

/** One encoding of an answer, and how it is sent: anew, or as bytes that were written before. */
export class Representation {
  readonly etag: string;
  readonly #body: Uint8Array<ArrayBuffer>;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #madeAt: number;
  #success: Packet | undefined;
  #notModified: Packet | undefined;

  /** `headers` lacks what differs from request to request, which is `RateLimit` alone. */
  constructor(
    body: Uint8Array<ArrayBuffer>,
    headers: Readonly<Record<string, string>> & { ETag: string },
    madeAt: number,
  ) {
    this.#body = body;
    this.etag = headers.ETag;
    this.#headers = headers;
    this.#madeAt = madeAt;
  }

  success(rateLimit: string | undefined): Reply {
    return reply(this.#body, withRateLimit(this.#headers, rateLimit));
  }

  /** Its headers are those of the answer that it stands for. */
  notModified(rateLimit: string | undefined): Reply {
    return reply(null, withRateLimit(this.#headersWithoutBody(), rateLimit), 304);
  }

  /** The same as bytes. They are good until the next call. */
  successAgain(rateLimit: string): Ready {
    this.#success ??= new Packet(200, this.#headers, this.#body, this.#madeAt);
    return this.#success.stamp(rateLimit);
  }

  notModifiedAgain(rateLimit: string): Ready {
    this.#notModified ??= new Packet(304, this.#headersWithoutBody(), undefined, this.#madeAt);
    return this.#notModified.stamp(rateLimit);
  }

  #headersWithoutBody(): Readonly<Record<string, string>> {
    const { 'Content-Type': _, 'Content-Encoding': __, ...headers } = this.#headers;
    return headers;
  }

  /** The same answer in gzip, which is another representation. */
  gzipped(etag: string): Representation {
    const headers = { ...this.#headers, 'Content-Encoding': 'gzip', ETag: etag };
    return new Representation(Bun.gzipSync(this.#body), headers, this.#madeAt);
  }
}

function withRateLimit(
  headers: Readonly<Record<string, string>>,
  rateLimit: string | undefined,
): Readonly<Record<string, string>> {
  return rateLimit === undefined ? headers : { ...headers, RateLimit: rateLimit };
}

const EMPTY = new Uint8Array();

/**
 * A whole answer in one piece of memory, in which one value changes:
 *
 *     HTTP/1.1 200 OK … RateLimit: "month";r=998;t=1234 ⏎⏎ {"success":true, …
 *                                  └── stamped anew ──┘
 */
class Packet implements Ready {
  readonly status: number;
  readonly #before: string;
  readonly #after: Buffer;
  bytes: Buffer = Buffer.alloc(0);
  #stampLength = -1;

  constructor(
    status: number,
    headers: Readonly<Record<string, string>>,
    body: Uint8Array | undefined,
    madeAt: number,
  ) {
    const length = body === undefined ? '' : `Content-Length: ${body.length}\r\n`;
    this.status = status;
    this.#before = `${headText(status, headers, madeAt)}${length}RateLimit: `;
    this.#after = Buffer.concat([Buffer.from('\r\n\r\n'), body ?? EMPTY]);
  }

  stamp(rateLimit: string): this {
    if (rateLimit.length === this.#stampLength) {
      this.bytes.write(rateLimit, this.#before.length, 'latin1');
    } else {
      this.bytes = Buffer.concat([Buffer.from(this.#before + rateLimit, 'latin1'), this.#after]);
      this.#stampLength = rateLimit.length;
    }
    return this;
  }
}
