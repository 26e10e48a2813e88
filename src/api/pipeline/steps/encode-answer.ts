import type { Series } from '../../../board/series/series.ts';
import type { View } from '../../../board/views/view.ts';
import { CachedAnswer } from '../../cache/cached-answer.ts';
import { Download } from '../../download/download.ts';
import type { TableSource } from '../../download/table-source.ts';
import type { Finality } from '../../model/answer.ts';
import type { TextFormat } from '../../model/table.ts';
import { nextLink } from '../../params/cursor.ts';
import { ParquetAnswer, type ParquetAnswerOptions } from '../../parquet/parquet-answer.ts';
import type { EntityTags } from '../../response/etag.ts';
import { type Body, contentOf } from '../../response/format.ts';
import type { PriceRequest } from '../request/price-request.ts';

/** A body, and what its headers say about it. */
export interface EncodedBody {
  body: Body;
  gzipped?: Uint8Array<ArrayBuffer> | undefined;
  finality: Finality;
  next: string | undefined;
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
    const { body, gzipped, finality, next } = encoded;
    return new CachedAnswer({
      body,
      gzipped,
      finality,
      status: priceQuery.unresolved ? 206 : 200,
      etag: etag ?? this.#tagOf(priceRequest, encoded),
      link: next === undefined ? undefined : nextLink(query, next),
      plan,
    });
  }

  /** The tag of an answer whose content does not exist yet. */
  tagOfState(priceRequest: PriceRequest, { state, finality }: { state: string; finality: Finality }): string {
    const newest = newestTagged(priceRequest, finality)?.toHex() ?? '';
    return this.#tags.ofState(`${priceRequest.context.format} ${newest} ${state}`, priceRequest.view.delayMs);
  }

  download({ context }: PriceRequest, source: TableSource, finality: Finality, etag: string): Download {
    const format = context.format as TextFormat;
    const { plan } = context;
    return new Download({ source, format, finality, etag, plan, onFailure: this.#onDownloadFailure });
  }

  parquet({ context }: PriceRequest, options: Omit<ParquetAnswerOptions, 'plan'>): ParquetAnswer {
    return new ParquetAnswer({ ...options, plan: context.plan });
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

function newestOf(series: readonly Series[], view: View): Uint8Array {
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
