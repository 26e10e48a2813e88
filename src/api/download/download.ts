import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import { type Reply, reply } from '../../http/message/reply.ts';
import type { Plan } from '../../ledger/accounts/accounts.ts';
import { CACHE_CONTROL, type Lasting } from '../model/endpoint.ts';
import type { TableFormat } from '../model/table.ts';
import { etagOfEncoding, matches } from '../response/etag.ts';
import { TYPES } from '../response/format.ts';
import { acceptsGzip } from '../response/gzip.ts';
import { COMMON_HEADERS, rateLimitPolicy } from '../response/headers.ts';
import { bodyOf } from './chunks.ts';
import { gzipChunks } from './gzip-chunks.ts';

/** Where the text of a table comes from. */
export interface TableSource {
  /** What it costs beside what was taken already. It is taken before the first byte. */
  units(): Promise<number>;
  /** The text from its beginning. It is read when the units are taken. */
  text(): AsyncGenerator<Uint8Array>;
  /** The text is sent, or nobody wants it any more. */
  release(): Promise<void>;
}

export interface DownloadOptions {
  source: TableSource;
  format: TableFormat;
  lasting: Lasting;
  etag: string;
  plan: Plan;
  onFailure: (error: unknown) => void;
}

/** What differs from request to request. */
export interface Addressed {
  requestId: string;
  rateLimit: string | undefined;
}

/** A table that is streamed. Its tag and its row count are known before it is written. */
export class Download {
  readonly #options: DownloadOptions;

  constructor(options: DownloadOptions) {
    this.#options = options;
  }

  /** Whether `If-None-Match` names its tag, in any encoding. */
  isUnchanged(ifNoneMatch: string): boolean {
    return matches(ifNoneMatch, this.#options.etag);
  }

  /** A 304 is free: it carries the tag that the client sent, and so tells nothing about the body. */
  notModified(ifNoneMatch: string, addressed: Addressed): Reply {
    return reply(null, this.#headers(ifNoneMatch.includes('-gzip"'), addressed), 304);
  }

  /** HEAD is free too, and the same whatever encodings the client accepts. */
  headOnly(addressed: Addressed): Reply {
    return reply(new ReadableStream(), { ...this.#headers(false, addressed), 'Content-Type': this.#type });
  }

  units(): Promise<number> {
    return this.#options.source.units();
  }

  async send(request: IncomingRequest, addressed: Addressed): Promise<Reply> {
    const { source, onFailure } = this.#options;
    const isGzip = acceptsGzip(request.headers.get('accept-encoding'));
    const headers = { ...this.#headers(isGzip, addressed), 'Content-Type': this.#type };
    const chunks = () => (isGzip ? gzipChunks(source.text()) : source.text());
    // HTTP/1.0 has no chunks: without a length, a body that is cut off would look complete.
    const length = request.isHttp10 ? await lengthOf(chunks()) : undefined;
    const body = bodyOf(chunks(), { onFailure, onEnd: () => source.release() });
    return reply(body, isGzip ? { ...headers, 'Content-Encoding': 'gzip' } : headers, 200, length);
  }

  get #type(): string {
    return TYPES[this.#options.format];
  }

  #headers(isGzip: boolean, { requestId, rateLimit }: Addressed): Record<string, string> {
    const { etag, lasting, plan } = this.#options;
    return {
      ...COMMON_HEADERS,
      'X-Request-Id': requestId,
      'Cache-Control': CACHE_CONTROL[lasting],
      'RateLimit-Policy': rateLimitPolicy(plan.quota, plan.burstPerSecond),
      ...(rateLimit !== undefined && { RateLimit: rateLimit }),
      'Accept-Ranges': 'none',
      ETag: isGzip ? etagOfEncoding(etag, 'gzip') : etag,
    };
  }
}

async function lengthOf(chunks: AsyncGenerator<Uint8Array>): Promise<number> {
  let length = 0;
  for await (const chunk of chunks) length += chunk.length;
  return length;
}
