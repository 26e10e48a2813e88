import type { Incoming } from '../../http/incoming.ts';
import { type Reply, reply } from '../../http/reply.ts';
import type { Plan } from '../../ledger/accounts.ts';
import { acceptsGzip } from '../encoding.ts';
import { CACHE_CONTROL, type Lasting } from '../endpoint.ts';
import { etagOfEncoding, matches } from '../etag.ts';
import { TYPES } from '../format.ts';
import { COMMON_HEADERS, rateLimitPolicy } from '../headers.ts';
import type { TableFormat } from '../table.ts';
import { bodyOf, textChunks } from './chunks.ts';
import { gzipChunks } from './gzip-chunks.ts';
import type { LongTable } from './long-table.ts';

export interface DownloadOptions {
  table: LongTable;
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

  async charge(): Promise<{ rows: number; units: number }> {
    const { table } = this.#options;
    const rows = await table.count();
    return { rows, units: table.unitsOf(rows) };
  }

  async send(request: Incoming, rows: number, addressed: Addressed): Promise<Reply> {
    const isGzip = acceptsGzip(request.headers.get('accept-encoding'));
    const headers = { ...this.#headers(isGzip, addressed), 'Content-Type': this.#type };
    const chunks = () => this.#chunks(rows, isGzip);
    const body = bodyOf(chunks(), this.#options.onFailure);
    // HTTP/1.0 has no chunks: without a length, a body that is cut off would look complete.
    const length = request.isOld ? await lengthOf(chunks()) : undefined;
    return reply(body, isGzip ? { ...headers, 'Content-Encoding': 'gzip' } : headers, 200, length);
  }

  get #type(): string {
    return TYPES[this.#options.format];
  }

  #chunks(rows: number, isGzip: boolean): AsyncGenerator<Uint8Array> {
    const { table, format } = this.#options;
    const text = textChunks(table, rows, format);
    return isGzip ? gzipChunks(text) : text;
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
