import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import { type Reply, reply } from '../../http/message/reply.ts';
import { CACHE_CONTROL, type Finality } from '../model/answer.ts';
import type { TextFormat } from '../model/table.ts';
import { etagOfEncoding, etagOfMatch, matches } from '../response/etag.ts';
import { TYPES } from '../response/format.ts';
import { acceptsGzip } from '../response/gzip.ts';
import { COMMON_HEADERS } from '../response/headers.ts';
import { type RateLimit, rateLimitText } from '../response/request-lines.ts';
import { keptChunks, type TableCache } from './cached-text.ts';
import { chunkStream } from './chunk-stream.ts';
import { gzipChunks } from './gzip-chunks.ts';
import type { TableSource } from './table-source.ts';

export interface DownloadOptions {
  source: TableSource;
  format: TextFormat;
  finality: Finality;
  etag: string;
  /** If set, a table that is downloaded repeatedly is kept there. */
  cache: TableCache | undefined;
  /** Headers of this table alone. */
  headers: Readonly<Record<string, string>>;
  onFailure: (error: unknown) => void;
}

/** Header values that differ between requests for the same table. */
export interface DownloadHeaders {
  requestId: string;
  policy: string;
  rateLimit: RateLimit | undefined;
}

/** A table that is streamed. Its entity tag and row count are known before it is written. */
export class Download {
  readonly #options: DownloadOptions;

  constructor(options: DownloadOptions) {
    this.#options = options;
  }

  /** Whether `If-None-Match` contains its tag, for any encoding. */
  isUnchanged(ifNoneMatch: string): boolean {
    return matches(ifNoneMatch, this.#options.etag);
  }

  /** A 304 repeats the tag that the client sent. */
  notModified(ifNoneMatch: string, headers: DownloadHeaders): Reply {
    return reply(null, this.#headers(etagOfMatch(ifNoneMatch, this.#options.etag), headers), 304);
  }

  /** The response to HEAD. It ignores `Accept-Encoding`. */
  headOnly(headers: DownloadHeaders): Reply {
    return reply(new ReadableStream(), {
      ...this.#headers(this.#options.etag, headers),
      'Content-Type': this.#type,
    });
  }

  units(): Promise<number> {
    return this.#options.source.units();
  }

  /** Discards what was read for it. Call it if the download is not sent. */
  release(): Promise<void> {
    return this.#options.source.release();
  }

  async send(request: IncomingRequest, headers: DownloadHeaders): Promise<Reply> {
    const { source, cache, onFailure } = this.#options;
    const isGzip = acceptsGzip(request.headers.get('accept-encoding'));
    const etag = isGzip ? etagOfEncoding(this.#options.etag, 'gzip') : this.#options.etag;
    const own = this.#headers(etag, headers);
    const all = { ...own, 'Content-Type': this.#type, ...(isGzip && { 'Content-Encoding': 'gzip' }) };
    const ready = this.#ready(etag, isGzip);
    if (ready) return reply(ready, all);
    const write = () => (isGzip ? gzipChunks(source.text()) : source.text());
    // HTTP/1.0 has no chunked encoding: without a length, a truncated body would look complete. So it is written twice.
    const length = request.isHttp10 ? await lengthOf(write()) : undefined;
    const chunks = cache ? keptChunks(cache, etag, write()) : write();
    return reply(chunkStream(chunks, { onFailure, onEnd: () => source.release() }), all, 200, length);
  }

  /** The whole body, if it is in memory. */
  #ready(etag: string, isGzip: boolean): readonly Uint8Array[] | undefined {
    const { source, cache, onFailure } = this.#options;
    const cached = cache?.get(etag);
    const ready = cached ? [cached] : isGzip ? undefined : source.ready?.();
    if (ready) source.release().catch(onFailure);
    return ready;
  }

  get #type(): string {
    return TYPES[this.#options.format];
  }

  #headers(etag: string, { requestId, policy, rateLimit }: DownloadHeaders): Record<string, string> {
    const { finality, headers } = this.#options;
    return {
      ...COMMON_HEADERS,
      'X-Request-Id': requestId,
      'Cache-Control': CACHE_CONTROL[finality],
      'RateLimit-Policy': policy,
      ...(rateLimit !== undefined && { RateLimit: rateLimitText(rateLimit) }),
      ...headers,
      'Accept-Ranges': 'none',
      ETag: etag,
    };
  }
}

async function lengthOf(chunks: AsyncGenerator<Uint8Array>): Promise<number> {
  let length = 0;
  for await (const chunk of chunks) length += chunk.length;
  return length;
}
