import type { Board } from '../../board/board.ts';
import type { Catalog } from '../../board/catalog.ts';
import { Series } from '../../board/series/series.ts';
import type { View } from '../../board/views/view.ts';
import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import { headerLines } from '../../http/message/serialize.ts';
import type { Plan } from '../../ledger/accounts/accounts.ts';
import { CACHE_CONTROL, type Finality } from '../model/answer.ts';
import { HEAD_ROOM } from '../model/byte-writer.ts';
import { etagOfEncoding, matches } from '../response/etag.ts';
import type { Body } from '../response/format.ts';
import { acceptsGzip, COMPRESS_FROM_BYTES } from '../response/gzip.ts';
import { COMMON_HEADERS, JSON_TYPE, policyLine } from '../response/headers.ts';
import { EncodedResponse } from './encoded-response.ts';

export interface CachedAnswerOptions {
  body: Body;
  /** The body in gzip, where it was compressed before. */
  gzipped?: Uint8Array<ArrayBuffer> | undefined;
  etag: string;
  finality: Finality;
  /** Where the next page is, as a `Link` header. */
  link: string | undefined;
  /** All that it was made from. */
  series: readonly Series[];
  view: View;
  board: Board;
  plan: Plan;
  now: number;
}

/**
 * An answer as it is sent, and sent again to the same question while nothing in it can have changed: until the second is
 * over, a series of it shows something else, or the catalogue changes. Everything that goes by the clock (the timestamp, what "today" is, whether a
 * price is stale) changes at a whole second.
 */
export class CachedAnswer {
  readonly #plain: EncodedResponse;
  readonly #isLong: boolean;
  #gzipped: EncodedResponse | undefined;
  readonly #compressed: Uint8Array<ArrayBuffer> | undefined;
  #gzippedUnchanged: EncodedResponse | undefined;
  readonly #series: readonly Series[];
  readonly #versions: readonly number[];
  readonly #view: View;
  readonly #board: Board;
  readonly #catalog: Catalog;
  readonly #validUntil: number;
  /** Up to this version nothing of it has changed. */
  #seen = Series.lastVersion;
  /** What it takes in memory at most, with everything that is made of it when it is sent again. */
  readonly bytes: number;

  constructor(options: CachedAnswerOptions) {
    const { body: said, etag, finality, link, series, view, board, plan, now } = options;
    const { packet, length } = said;
    let lines = `${COMMON_LINES}Cache-Control: ${CACHE_CONTROL[finality]}\r\n${policyLine(plan)}`;
    if (link !== undefined) lines += headerLines({ Link: link });
    // Tools that read files from the web ask for parts: they are told that there are only wholes.
    if (said.type !== JSON_TYPE) lines += 'Accept-Ranges: none\r\n';
    const bodyLines = `Content-Type: ${said.type}\r\n`;
    this.#plain = new EncodedResponse({ body: { packet, length }, etag, bodyLines, lines, madeAt: now });
    this.#isLong = length > COMPRESS_FROM_BYTES;
    this.bytes = bytesOf(length, this.#isLong, series.length);
    this.#compressed = options.gzipped;
    this.#series = series;
    this.#versions = series.map((one) => view.version(one));
    this.#view = view;
    this.#board = board;
    this.#catalog = board.catalog;
    this.#validUntil = Math.floor(now / 1000) * 1000 + 1000;
  }

  isValid(now: number): boolean {
    if (now >= this.#validUntil || now < this.#validUntil - 1000) return false;
    if (this.#board.catalog !== this.#catalog) return false;
    if (this.#seen === Series.lastVersion) return true;
    for (let i = 0; i < this.#series.length; i++) {
      if (this.#view.version(this.#series[i]!) !== this.#versions[i]) return false;
    }
    this.#seen = Series.lastVersion;
    return true;
  }

  /** Makes it reusable. Without this its memory returns to the pool once it is sent, and sending it again throws. */
  retain(): void {
    this.#plain.retain();
  }

  /**
   * What answers `If-None-Match` with a 304; undefined when no tag matches. A 304 is free, so it must not tell whether
   * the body is long enough to be compressed: it carries the tag that the client sent.
   */
  unchanged(ifNoneMatch: string): EncodedResponse | undefined {
    const { etag } = this.#plain;
    if (!matches(ifNoneMatch, etag)) return undefined;
    if (!ifNoneMatch.includes('-gzip"')) return this.#plain;
    this.#gzippedUnchanged ??= this.#plain.tagged(etagOfEncoding(etag, 'gzip'));
    return this.#gzippedUnchanged;
  }

  /** What HEAD gets, which is free too: the same whatever encodings the client accepts. */
  get plain(): EncodedResponse {
    return this.#plain;
  }

  /** What a client gets that accepts these encodings. */
  representation(request: IncomingRequest): EncodedResponse {
    if (!this.#isLong || !acceptsGzip(request.headers.get('accept-encoding'))) return this.#plain;
    this.#gzipped ??= this.#plain.gzipped(etagOfEncoding(this.#plain.etag, 'gzip'), this.#compressed);
    return this.#gzipped;
  }
}

/** Objects and header lines of an answer, and the responses that are made of it: 200 and 304, each with its head. Measured. */
const OBJECT_BYTES = 4_096;
const SERIES_BYTES = 16;

/** Its body lies in memory twice, as it was made and as bytes to send; compressed, which saves at least half, also twice. */
function bytesOf(length: number, isLong: boolean, series: number): number {
  const copies = isLong ? 3 : 2;
  return copies * (length + HEAD_ROOM) + OBJECT_BYTES + SERIES_BYTES * series;
}

const COMMON_LINES = headerLines(COMMON_HEADERS);
