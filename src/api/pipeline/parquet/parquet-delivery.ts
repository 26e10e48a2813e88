import { type Reply, reply } from '../../../http/message/reply.ts';
import { chunkStream } from '../../download/chunk-stream.ts';
import { refuse } from '../../errors/errors.ts';
import { CACHE_CONTROL } from '../../model/answer.ts';
import type { PriceEndpoint } from '../../model/endpoint.ts';
import { type ByteRange, readByteRange } from '../../parquet/byte-range.ts';
import type { ParquetAnswer, ParquetAnswerOptions } from '../../parquet/parquet-answer.ts';
import type { ParquetFile } from '../../parquet/parquet-file.ts';
import type { ParquetFiles } from '../../parquet/parquet-files.ts';
import { matches } from '../../response/etag.ts';
import { TYPES } from '../../response/format.ts';
import { COMMON_HEADERS, policyOf, warningHeaders } from '../../response/headers.ts';
import type { RemainingQuota } from '../../response/remaining-quota.ts';
import { rateLimitText } from '../../response/request-lines.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { Response } from '../request/step.ts';
import type { Charge } from '../steps/charge.ts';

/**
 * Sends Parquet files, whole or in ranges. The first request for a file pays for it, HEAD included: it has to state the
 * length, so the file has to be written, and a length that is free would reveal prices (docs/decisions/0017).
 */
export class ParquetDelivery {
  readonly #files: ParquetFiles;
  readonly #charge: Charge;
  readonly #remainingQuota: RemainingQuota;
  readonly #onFailure: (error: unknown) => void;

  constructor(
    files: ParquetFiles,
    charge: Charge,
    remainingQuota: RemainingQuota,
    onFailure: (error: unknown) => void,
  ) {
    this.#files = files;
    this.#charge = charge;
    this.#remainingQuota = remainingQuota;
    this.#onFailure = onFailure;
  }

  /** Sends the file that this account has just bought at this URL; undefined if it has to be made. */
  sendBought(context: RequestContext): Promise<Response> | undefined {
    const { isDryRun, context: endpointContext } = context.priceRequest!;
    if (isDryRun || endpointContext.format !== 'parquet') return undefined;
    const file = this.#files.bought(buyerOf(context), rangeOf(context) !== null);
    return file && this.#send(context, file);
  }

  /** Whether a request needs no payment: its file was bought just now, or it is the one with this entity tag. */
  isPaid(context: RequestContext, etag?: string): boolean {
    const buyer = buyerOf(context);
    if (this.#files.bought(buyer, rangeOf(context) !== null)) return true;
    return etag !== undefined && this.#files.isPaid(buyer, etag);
  }

  async send(context: RequestContext, endpoint: PriceEndpoint, answer: ParquetAnswer): Promise<Reply> {
    const { etag, source } = answer.options;
    if (this.#isUnchanged(context, etag)) {
      await source.release();
      return reply(null, await this.#headers(context, answer.options), 304);
    }
    const buyer = buyerOf(context);
    const account = context.customer!.id;
    const file = this.#files.isPaid(buyer, etag)
      ? await this.#files.fileOf(answer, account)
      : await this.#files.buy(buyer, () => this.#buy(context, endpoint, answer));
    return this.#send(context, file);
  }

  /** The file is complete before it is charged. It is charged whatever the range: writing it is what costs. */
  async #buy(context: RequestContext, endpoint: PriceEndpoint, answer: ParquetAnswer): Promise<ParquetFile> {
    const units = await answer.units();
    try {
      this.#charge.requireAffordable(context, units);
    } catch (error) {
      await answer.options.source.release();
      throw error;
    }
    const file = await this.#files.fileOf(answer, context.customer!.id);
    if (units > 0) await file.whileInUse(() => this.#charge.take(context, endpoint, units));
    return file;
  }

  #send(context: RequestContext, file: ParquetFile): Promise<Reply> {
    return file.whileInUse(() => this.#replyWith(context, file));
  }

  async #replyWith(context: RequestContext, file: ParquetFile): Promise<Reply> {
    const { method } = context.request;
    const headers = await this.#headers(context, file);
    if (this.#isUnchanged(context, file.etag)) return reply(null, headers, 304);
    const all = { ...headers, 'Content-Type': TYPES.parquet };
    if (method === 'HEAD') return reply(new ReadableStream(), all, 200, file.length);
    const { length } = file;
    const range = isForThis(context, file.etag) ? readByteRange(rangeOf(context), length) : undefined;
    if (range === 'unsatisfiable') throw refuse('invalid_byte_range', { length });
    if (!range) return reply(this.#stream(file, { start: 0, end: length }), all, 200, length);
    const { start, end } = range;
    const partial = { ...all, 'Content-Range': `bytes ${start}-${end - 1}/${length}` };
    return reply(this.#stream(file, range), partial, 206, end - start);
  }

  #stream(file: ParquetFile, range: ByteRange): ReadableStream<Uint8Array> {
    file.acquire();
    return chunkStream(file.read(range), { onFailure: this.#onFailure, onEnd: () => void file.release() });
  }

  #isUnchanged({ request }: RequestContext, etag: string): boolean {
    const ifNoneMatch = request.headers.get('if-none-match');
    return ifNoneMatch !== null && matches(ifNoneMatch, etag);
  }

  async #headers(
    context: RequestContext,
    { etag, finality, warnings = [] }: Pick<ParquetAnswerOptions, 'etag' | 'finality' | 'warnings'>,
  ): Promise<Record<string, string>> {
    const customer = context.customer!;
    await this.#remainingQuota.load(customer, context.now);
    const rateLimit = this.#remainingQuota.of(context);
    return {
      ...COMMON_HEADERS,
      'X-Request-Id': context.requestId,
      'Cache-Control': CACHE_CONTROL[finality],
      'RateLimit-Policy': policyOf(customer),
      ...(rateLimit !== undefined && { RateLimit: rateLimitText(rateLimit) }),
      ...warningHeaders([...context.priceRequest!.warnings, ...warnings]),
      'Accept-Ranges': 'bytes',
      ETag: etag,
    };
  }
}

/**
 * Who pays, for what: what the account sees at a URL depends on the delay of its plan. A dry run is about the same file as the
 * request without it.
 */
function buyerOf({ customer, target: { path, query } }: RequestContext): string {
  const others = query.split('&').filter((one) => !one.startsWith('dryRun='));
  return `${customer!.id} ${customer!.plan.delaySeconds} ${path}?${others.join('&')}`;
}

/** `Range` applies only to GET. */
function rangeOf({ request }: RequestContext): string | null {
  return request.method === 'GET' ? request.headers.get('range') : null;
}

/** Whether the range is meant for this version of the file. Dates never match: the file has none. */
function isForThis({ request }: RequestContext, etag: string): boolean {
  const ifRange = request.headers.get('if-range');
  return ifRange === null || ifRange.trim() === etag;
}
