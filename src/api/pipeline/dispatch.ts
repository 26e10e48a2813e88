import type { Board } from '../../board/board.ts';
import type { Customer } from '../../gate/directory.ts';
import type { Meter } from '../../gate/meter/meter.ts';
import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import type { RawReply, Reply } from '../../http/message/reply.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { CachedAnswer } from '../cache/cached-answer.ts';
import { DeferredAnswer } from '../cache/deferred-answer.ts';
import type { EncodedResponse } from '../cache/encoded-response.ts';
import { Download } from '../download/download.ts';
import { quotaRefusal } from '../errors/from-gate.ts';
import { LedgerTableSource } from '../ledger-reads/ledger-table.ts';
import type { LedgerRequest } from '../ledger-reads/protocol.ts';
import type { ReaderPool } from '../ledger-reads/reader-pool.ts';
import type { AccountEndpoint, OwnerEndpoint, PriceEndpoint, StreamEndpoint } from '../model/endpoint.ts';
import { type MaybeAsync, maybeAsync } from '../model/maybe-async.ts';
import type { QueryParams } from '../model/query.ts';
import type { RequestContext } from '../model/request-context.ts';
import { acceptsGzip } from '../response/gzip.ts';
import type { RateLimitHeader } from '../response/rate-limit-header.ts';
import type { Responses } from '../response/responses.ts';
import type { StreamHub } from '../stream/hub.ts';
import type { Reception } from './authenticate.ts';
import { type Answering, type PriceRequest, readsLedger } from './build-answer.ts';
import type { Management } from './management.ts';

export interface ServingOptions {
  board: Board;
  clock: Clock;
  meter: Meter;
  allowance: RateLimitHeader;
  answering: Answering;
  management: Management;
  readers: ReaderPool;
  /** The folder for tables on their way. */
  downloadsDir: string;
  reception: Reception;
  responses: Responses;
  streams: StreamHub;
}

/** Serves those who were admitted, each kind of endpoint in its way. */
export class Serving {
  readonly #options: ServingOptions;

  constructor(options: ServingOptions) {
    this.#options = options;
  }

  /** Answers somebody who may ask. */
  serve(
    exchange: RequestContext,
    endpoint: PriceEndpoint | StreamEndpoint | AccountEndpoint | OwnerEndpoint,
    query: QueryParams,
    customer: Customer,
  ): MaybeAsync<RawReply | Reply> {
    const { answering, management, meter, responses } = this.#options;
    const { request, target, id } = exchange;
    if (endpoint.kind === 'prices') {
      if (exchange.ready) return this.#sell(exchange, endpoint, customer, exchange.ready);
      const priceRequest = answering.understand(request, endpoint, query, customer.plan);
      if (readsLedger(priceRequest)) return this.#sellRead(exchange, endpoint, customer, priceRequest);
      return maybeAsync(answering.prepare(priceRequest), (ready): MaybeAsync<RawReply | Reply> => {
        if (ready instanceof Download) return this.#sellDownload(exchange, endpoint, customer, ready);
        if (ready instanceof DeferredAnswer) return this.#sellDeferred(exchange, endpoint, customer, ready);
        return this.#sell(exchange, endpoint, customer, ready);
      });
    }
    if (endpoint.kind === 'stream') return this.#stream(exchange, endpoint, query, customer);
    const managing = { request, id, query: target.query };
    const telling =
      endpoint.kind === 'account'
        ? endpoint.answer(customer, meter, query)
        : management.owner(endpoint, managing, customer, exchange.key!.known);
    return telling.then((answer) => responses.account(exchange, answer));
  }

  /**
   * Reads an answer from the ledger. The read is what costs, so it takes its unit first, however it ends: an exhausted
   * quota reads nothing.
   */
  async #sellRead(
    exchange: RequestContext,
    endpoint: PriceEndpoint,
    customer: Customer,
    priceRequest: PriceRequest,
  ): Promise<RawReply | Reply> {
    const { allowance, answering, downloadsDir, readers, reception } = this.#options;
    const { request, requestId } = exchange;
    const slot = readers.reserve(customer.account.id);
    try {
      await reception.count(exchange, customer, endpoint);
      const ask = answering.ledgerRequest(priceRequest, request);
      const read = (from?: Partial<LedgerRequest>) =>
        slot.read({ ...ask, ...from }, () => exchange.peer() !== '');
      const response = await read();
      if (priceRequest.context.format !== 'json' && response.next !== undefined) {
        const format = priceRequest.context.format;
        const requireAffordable = (units: number) => reception.requireAffordable(customer, units);
        const source = new LedgerTableSource(response, {
          format,
          dir: downloadsDir,
          read,
          requireAffordable,
        });
        const download = answering.pastDownload(priceRequest, response, source);
        return await this.#sellDownload(exchange, endpoint, customer, download);
      }
      const ready = answering.fromLedger(priceRequest, response);
      const left = allowance.header(customer);
      const unchanged = unchangedOf(request, ready);
      if (unchanged) return unchanged.notModified(requestId, left);
      if (request.method === 'HEAD') return ready.plain.headOnly(requestId, left);
      return ready.representation(request).success(requestId, left);
    } finally {
      slot.release();
    }
  }

  /** Sends an answer that is ready, and charges a unit unless it is a 304 or a HEAD. */
  #sell(
    exchange: RequestContext,
    endpoint: PriceEndpoint,
    customer: Customer,
    ready: CachedAnswer,
  ): MaybeAsync<RawReply> {
    const { allowance, reception } = this.#options;
    const { request, requestId } = exchange;
    const unchanged = unchangedOf(request, ready);
    if (unchanged) {
      // Who came by the short way was admitted there, where nobody asks the ledger what is left.
      const learning = exchange.ready && allowance.learn(customer);
      return maybeAsync(learning, () => unchanged.notModified(requestId, allowance.header(customer)));
    }
    if (request.method === 'HEAD') return ready.plain.headOnly(requestId, allowance.header(customer));
    const representation = ready.representation(request);
    return maybeAsync(reception.count(exchange, customer, endpoint), () =>
      representation.success(requestId, allowance.header(customer)),
    );
  }

  /** Builds a large answer once its unit is paid. Nothing is left that could refuse it. */
  async #sellDeferred(
    exchange: RequestContext,
    endpoint: PriceEndpoint,
    customer: Customer,
    deferred: DeferredAnswer,
  ): Promise<RawReply> {
    const { allowance, reception } = this.#options;
    const { request, requestId } = exchange;
    const unchanged = unchangedOf(request, deferred.head);
    if (unchanged) return unchanged.notModified(requestId, allowance.header(customer));
    if (request.method === 'HEAD') return deferred.head.plain.headOnly(requestId, allowance.header(customer));
    await reception.count(exchange, customer, endpoint);
    const ready = await deferred.build(acceptsGzip(request.headers.get('accept-encoding')));
    return ready.representation(request).success(requestId, allowance.header(customer));
  }

  /** Streams a table. Its units are spent before the first byte, so that a quota which is too small gives no half file. */
  async #sellDownload(
    exchange: RequestContext,
    endpoint: PriceEndpoint,
    customer: Customer,
    download: Download,
  ): Promise<Reply> {
    const { allowance, reception } = this.#options;
    const { request, requestId } = exchange;
    const addressed = () => ({ requestId, rateLimit: allowance.header(customer) });
    const ifNoneMatch = request.headers.get('if-none-match');
    if (ifNoneMatch !== null && download.isUnchanged(ifNoneMatch)) {
      return download.notModified(ifNoneMatch, addressed());
    }
    if (request.method === 'HEAD') return download.headOnly(addressed());
    const units = await download.units();
    if (units > 0) await reception.count(exchange, customer, endpoint, units);
    return download.send(request, addressed());
  }

  /** Opens a stream. It is counted like an answer, and again for its events. */
  async #stream(
    exchange: RequestContext,
    endpoint: StreamEndpoint,
    query: QueryParams,
    customer: Customer,
  ): Promise<Reply> {
    const { board, clock, meter, allowance, reception, responses, streams } = this.#options;
    const { plan, account } = customer;
    const { symbols, series } = endpoint.read({ query, plan, board, now: clock.now(), format: 'json' });
    const channel = streams.channel(board.view(plan.delaySeconds * 1000));
    await board.ready(series, endpoint.needs, clock.now());
    if (exchange.request.method === 'HEAD') {
      streams.requireRoom(account.id);
      return responses.stream(exchange, new ReadableStream());
    }
    const place = streams.reserve(account.id);
    try {
      await reception.count(exchange, customer, endpoint);
    } catch (error) {
      place.release();
      throw error;
    }
    const body = streams.open(place, {
      channel,
      account,
      meter,
      topics: channel.topics(symbols),
      after: channel.sequenceOf(exchange.request.headers.get('last-event-id')),
      key: exchange.key!.text,
      quotaRefusal: (spend) => quotaRefusal(spend, customer.plan, allowance, 1),
    });
    return responses.stream(exchange, body);
  }
}

/** What answers the request with a 304; undefined when the client does not have this answer. */
function unchangedOf(request: IncomingRequest, ready: CachedAnswer): EncodedResponse | undefined {
  const ifNoneMatch = request.headers.get('if-none-match');
  return ifNoneMatch === null ? undefined : ready.unchanged(ifNoneMatch);
}
