import type { SymbolSeries } from '../../../board/series/symbol-series.ts';
import type { View } from '../../../board/views/view.ts';
import { CachedAnswer } from '../../cache/cached-answer.ts';
import type { TableCache } from '../../download/cached-text.ts';
import { Download } from '../../download/download.ts';
import type { TableSource } from '../../download/table-source.ts';
import type { Finality } from '../../model/answer.ts';
import type { TextFormat } from '../../model/table.ts';
import { nextLink } from '../../params/cursor.ts';
import type { EntityTags } from '../../response/etag.ts';
import { type Body, contentOf } from '../../response/format.ts';
import { warningHeaders } from '../../response/headers.ts';
import type { PriceRequest } from '../request/price-request.ts';

/** A body, and what its headers say about it. */
export interface EncodedBody {
  body: Body;
  gzipped?: Uint8Array<ArrayBuffer> | undefined;
  finality: Finality;
  next: string | undefined;
  /** Further warnings about the request. In JSON, all warnings are in the body. */
  warnings?: readonly string[] | undefined;
}

const NO_HEADERS: Readonly<Record<string, string>> = {};

/** A table that is written while it is sent. */
export interface UnwrittenTable {
  source: TableSource;
  finality: Finality;
  etag: string;
  warnings: readonly string[] | undefined;
  cache?: TableCache;
}

/** Adds headers and an entity tag to the body of an answer. */
export class AnswerEncoder {
  readonly #tags: EntityTags;
  readonly #onDownloadFailure: (error: unknown) => void;

  constructor(tags: EntityTags, onDownloadFailure: (error: unknown) => void) {
    this.#tags = tags;
    this.#onDownloadFailure = onDownloadFailure;
  }

  /** Without `etag`, the tag is computed from the content. */
  encode(priceRequest: PriceRequest, encoded: EncodedBody, etag?: string): CachedAnswer {
    const { context, priceQuery } = priceRequest;
    const { query, plan } = context;
    const { body, gzipped, finality, next, warnings } = encoded;
    return new CachedAnswer({
      body,
      gzipped,
      finality,
      status: priceQuery.unresolved ? 206 : 200,
      etag: etag ?? this.#tagOf(priceRequest, encoded),
      link: next === undefined ? undefined : nextLink(query, next),
      warnings: this.#warningHeaders(priceRequest, warnings),
      plan,
    });
  }

  /** The tag of an answer whose content does not exist yet. */
  tagOfState(priceRequest: PriceRequest, { state, finality }: { state: string; finality: Finality }): string {
    const newest = newestTagged(priceRequest, finality)?.toHex() ?? '';
    return this.#tags.ofState(`${priceRequest.context.format} ${newest} ${state}`, priceRequest.view.delayMs);
  }

  download(priceRequest: PriceRequest, table: UnwrittenTable): Download {
    const { format } = priceRequest.context;
    const headers = this.#warningHeaders(priceRequest, table.warnings);
    const onFailure = this.#onDownloadFailure;
    const { cache } = table;
    return new Download({ ...table, cache, format: format as TextFormat, headers, onFailure });
  }

  /** JSON has its warnings in the body. */
  #warningHeaders({ context, warnings }: PriceRequest, more: readonly string[] = []) {
    return context.format === 'json' ? NO_HEADERS : warningHeaders([...warnings, ...more]);
  }

  #tagOf(priceRequest: PriceRequest, { body, finality }: EncodedBody): string {
    const { delayMs } = priceRequest.view;
    const newest = newestTagged(priceRequest, finality);
    return this.#tags.ofContent(contentOf(body), { delayMs, weak: body.contentFrom > 0, newest });
  }
}

/** Day and time of each series' newest price, while the answer can change. Valid until the next call. */
function newestTagged({ priceQuery, view }: PriceRequest, finality: Finality): Uint8Array | undefined {
  const canChange = finality === 'live' || finality === 'open';
  const tagged = canChange && !priceQuery.asOf ? priceQuery.tagged : undefined;
  return tagged && newestOf(tagged, view);
}

function newestOf(series: readonly SymbolSeries[], view: View): Uint8Array {
  const { moments, bytes } = scratchFor(series.length);
  for (let i = 0; i < series.length; i++) {
    const latest = view.latest(series[i]!);
    moments[2 * i] = latest?.day ?? -1;
    moments[2 * i + 1] = latest?.at ?? -1;
  }
  return bytes;
}

/** Memory for two numbers per series, by number of series. Allocating it takes longer than filling it. */
const scratches: { moments: Float64Array; bytes: Uint8Array }[] = [];
const SCRATCHES_MAX = 100;

function scratchFor(count: number): { moments: Float64Array; bytes: Uint8Array } {
  const known = scratches[count];
  if (known) return known;
  const moments = new Float64Array(2 * count);
  const scratch = { moments, bytes: new Uint8Array(moments.buffer) };
  if (count < SCRATCHES_MAX) scratches[count] = scratch;
  return scratch;
}
