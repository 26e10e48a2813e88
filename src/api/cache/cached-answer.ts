import type { Board } from '../../board/board.ts';
import type { Catalog } from '../../board/catalog.ts';
import { Series } from '../../board/series/series.ts';
import type { View } from '../../board/views/view.ts';
import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import { headerLines } from '../../http/message/serialize.ts';
import type { Plan } from '../../ledger/accounts/plans.ts';
import type { Finality } from '../model/answer.ts';
import { HEAD_ROOM } from '../model/byte-writer.ts';
import { etagOfEncoding, matches } from '../response/etag.ts';
import type { Body } from '../response/format.ts';
import { acceptsGzip, COMPRESS_FROM_BYTES } from '../response/gzip.ts';
import { JSON_TYPE, sharedLines } from '../response/headers.ts';
import { EncodedResponse } from './encoded-response.ts';

export interface CachedAnswerOptions {
  body: Body;
  /** The body in gzip, if it is compressed already. */
  gzipped?: Uint8Array<ArrayBuffer> | undefined;
  etag: string;
  status: 200 | 206;
  finality: Finality;
  /** The `Link` header to the next page. */
  link: string | undefined;
  /** The series that it was built from. */
  series: readonly Series[];
  view: View;
  board: Board;
  plan: Plan;
  now: number;
}

/**
 * An encoded answer. Once retained, it can be sent again within its second, unless one of its series or the catalogue changes.
 * Everything that depends on the clock (the timestamp, today's date, whether a price is stale) changes on a whole second.
 */
export class CachedAnswer {
  readonly #options: CachedAnswerOptions;
  readonly #plain: EncodedResponse;
  #gzipResponse: EncodedResponse | undefined;
  #gzippedUnchanged: EncodedResponse | undefined;
  #validity: Validity | undefined;

  constructor(options: CachedAnswerOptions) {
    this.#options = options;
    const { body, etag, finality, link, plan, status, now } = options;
    let lines = sharedLines(plan, finality);
    if (link !== undefined) lines += headerLines({ Link: link });
    // Tools that read files over HTTP send range requests, which are not supported.
    if (body.type !== JSON_TYPE) lines += 'Accept-Ranges: none\r\n';
    const bodyLines = `Content-Type: ${body.type}\r\n`;
    this.#plain = new EncodedResponse({ body, etag, bodyLines, lines, status, madeAt: now });
  }

  get madeAt(): number {
    return this.#options.now;
  }

  /** Upper bound of its memory use, including packets built for later sends. */
  get bytes(): number {
    const { body, series } = this.#options;
    return bytesOf(body.length, this.#isCompressible, series.length);
  }

  get #isCompressible(): boolean {
    return this.#options.body.length > COMPRESS_FROM_BYTES;
  }

  /** Whether a retained answer still says what its series do. */
  get isCurrent(): boolean {
    const { board, series, view } = this.#options;
    const validity = this.#validity;
    if (!validity || board.catalog !== validity.catalog) return false;
    if (validity.checkedVersion === Series.lastVersion) return true;
    for (let i = 0; i < series.length; i++) {
      if (view.version(series[i]!) !== validity.versions[i]) return false;
    }
    validity.checkedVersion = Series.lastVersion;
    return true;
  }

  /** Makes it reusable. Without this its memory returns to the pool once it is sent, and sending it again throws. */
  retain(): void {
    const { board, series, view } = this.#options;
    this.#validity = {
      catalog: board.catalog,
      versions: series.map((one) => view.version(one)),
      checkedVersion: Series.lastVersion,
    };
    this.#plain.retain();
  }

  /**
   * The response to send as a 304; undefined when no tag of `If-None-Match` matches. A 304 is not charged, so it must not reveal
   * whether the body is long enough to be compressed: it carries the tag that the client sent.
   */
  unchanged(ifNoneMatch: string): EncodedResponse | undefined {
    const { etag } = this.#plain;
    if (!matches(ifNoneMatch, etag)) return undefined;
    if (!ifNoneMatch.includes('-gzip"')) return this.#plain;
    this.#gzippedUnchanged ??= this.#plain.tagged(etagOfEncoding(etag, 'gzip'));
    return this.#gzippedUnchanged;
  }

  /** The response to HEAD. It is not charged either, and is the same for every `Accept-Encoding`. */
  get plain(): EncodedResponse {
    return this.#plain;
  }

  /** The response in the encoding that the client accepts. */
  encodingFor(request: IncomingRequest): EncodedResponse {
    if (!this.#isCompressible || !acceptsGzip(request.headers.get('accept-encoding'))) return this.#plain;
    this.#gzipResponse ??= this.#plain.gzipped(
      etagOfEncoding(this.#plain.etag, 'gzip'),
      this.#options.gzipped,
    );
    return this.#gzipResponse;
  }
}

/** What a retained answer was built from. */
interface Validity {
  readonly catalog: Catalog;
  /** Of each series. */
  readonly versions: readonly number[];
  /** The global series version at which the answer was last found valid. */
  checkedVersion: number;
}

/** Objects and header lines of an answer and of its packets, measured. */
const OBJECT_BYTES = 4_096;
const SERIES_BYTES = 16;

/** The body is in memory twice, as built and as a packet. The gzip versions together take at most one more. */
function bytesOf(length: number, isLong: boolean, series: number): number {
  const copies = isLong ? 3 : 2;
  return copies * (length + HEAD_ROOM) + OBJECT_BYTES + SERIES_BYTES * series;
}
