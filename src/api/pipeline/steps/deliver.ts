import type { RawReply, Reply } from '../../../http/message/reply.ts';
import type { CachedAnswer } from '../../cache/cached-answer.ts';
import { DeferredAnswer } from '../../cache/deferred-answer.ts';
import { Download } from '../../download/download.ts';
import type { PriceEndpoint } from '../../model/endpoint.ts';
import { type MaybeAsync, maybeAsync } from '../../model/maybe-async.ts';
import { ParquetAnswer } from '../../parquet/parquet-answer.ts';
import { acceptsGzip } from '../../response/gzip.ts';
import { policyOf } from '../../response/headers.ts';
import type { RemainingQuota } from '../../response/remaining-quota.ts';
import type { LargeResponses } from '../large/large-responses.ts';
import type { ParquetDelivery } from '../parquet/parquet-delivery.ts';
import type { PreparedAnswer } from '../request/prepared-answer.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { Response } from '../request/step.ts';
import type { Charge } from './charge.ts';

/** Sends an answer, and charges for it unless it is a 304 or a HEAD. */
export class Delivery {
  readonly #charge: Charge;
  readonly #remainingQuota: RemainingQuota;
  readonly #parquet: ParquetDelivery;
  readonly #largeResponses: LargeResponses;

  constructor(
    charge: Charge,
    remainingQuota: RemainingQuota,
    parquet: ParquetDelivery,
    largeResponses: LargeResponses,
  ) {
    this.#charge = charge;
    this.#remainingQuota = remainingQuota;
    this.#parquet = parquet;
    this.#largeResponses = largeResponses;
  }

  send(context: RequestContext, endpoint: PriceEndpoint, answer: PreparedAnswer): MaybeAsync<Response> {
    if (answer instanceof Download) return this.#sendDownload(context, endpoint, answer);
    if (answer instanceof ParquetAnswer) return this.#parquet.send(context, endpoint, answer);
    const head = answer instanceof DeferredAnswer ? answer.head : answer;
    const withoutBody = this.#sendWithoutBody(context, head);
    if (withoutBody) return withoutBody;
    const { etag } = head;
    if (context.chargedBefore?.etag === etag) return this.#sendAgain(context, answer);
    context.etag = etag;
    if (answer instanceof DeferredAnswer) return this.#sendDeferred(context, endpoint, answer);
    return maybeAsync(this.#charge.take(context, endpoint, 1, context.now), (rateLimit) =>
      answer.send(context, rateLimit),
    );
  }

  /** Sends the answer that the request was charged for before. */
  #sendAgain(context: RequestContext, answer: CachedAnswer | DeferredAnswer): MaybeAsync<RawReply> {
    return maybeAsync(this.#remainingQuota.load(context.customer!, context.now), () =>
      answer instanceof DeferredAnswer
        ? this.#largeResponses.build(context, () => this.#build(context, answer))
        : answer.send(context, this.#remainingQuota.of(context)),
    );
  }

  /** Sends an answer that was paid for before it was built. */
  sendPaid(context: RequestContext, answer: CachedAnswer): MaybeAsync<RawReply> {
    const withoutBody = this.#sendWithoutBody(context, answer);
    if (withoutBody) return withoutBody;
    return answer.send(context, this.#remainingQuota.of(context));
  }

  /** Sends a 304 or the headers alone; undefined when the request needs the body. */
  #sendWithoutBody(context: RequestContext, head: CachedAnswer): MaybeAsync<RawReply> | undefined {
    const { request } = context;
    const customer = context.customer!;
    const ifNoneMatch = request.headers.get('if-none-match');
    const isUnchanged = ifNoneMatch !== null && head.isUnchanged(ifNoneMatch);
    if (!isUnchanged && request.method !== 'HEAD') return undefined;
    return maybeAsync(this.#remainingQuota.load(customer, context.now), () => {
      const rateLimit = this.#remainingQuota.of(context);
      return isUnchanged
        ? head.notModified(ifNoneMatch, context, rateLimit)
        : head.headOnly(context, rateLimit);
    });
  }

  /** It is charged when it has its turn, so that nobody pays for waiting. */
  #sendDeferred(
    context: RequestContext,
    endpoint: PriceEndpoint,
    deferred: DeferredAnswer,
  ): Promise<RawReply> {
    return this.#largeResponses.build(context, async () => {
      await this.#charge.take(context, endpoint);
      return this.#build(context, deferred);
    });
  }

  async #build(context: RequestContext, deferred: DeferredAnswer): Promise<RawReply> {
    const answer = await deferred.build(acceptsGzip(context.request.headers.get('accept-encoding')));
    return answer.send(context, this.#remainingQuota.of(context));
  }

  /**
   * Streams a table. It is charged before the first byte, so that an insufficient quota never yields half a
   * file.
   */
  async #sendDownload(context: RequestContext, endpoint: PriceEndpoint, download: Download): Promise<Reply> {
    const { request, requestId } = context;
    const customer = context.customer!;
    const addressed = async () => {
      await this.#remainingQuota.load(customer, context.now);
      return { requestId, policy: policyOf(customer), rateLimit: this.#remainingQuota.of(context) };
    };
    const ifNoneMatch = request.headers.get('if-none-match');
    if (ifNoneMatch !== null && download.isUnchanged(ifNoneMatch)) {
      return download.notModified(ifNoneMatch, await addressed());
    }
    if (request.method === 'HEAD') return download.headOnly(await addressed());
    const units = await download.units();
    try {
      if (units > 0) await this.#charge.take(context, endpoint, units);
      return await download.send(request, await addressed());
    } catch (error) {
      await download.release();
      throw error;
    }
  }
}
