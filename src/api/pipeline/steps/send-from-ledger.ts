import type { Board } from '../../../board/board.ts';
import { type Bytes, bufferPool } from '../../../http/message/buffer-pool.ts';
import type { ClientAddress } from '../../access/client-address.ts';
import type { CachedAnswer } from '../../cache/cached-answer.ts';
import type { Download } from '../../download/download.ts';
import type { TableSource } from '../../download/table-source.ts';
import type { ConfirmedWrites } from '../../ledger-reads/confirmed-writes.ts';
import { isPaidByRead, LedgerTableSource } from '../../ledger-reads/ledger-table.ts';
import type { LedgerRequest, LedgerResponse } from '../../ledger-reads/protocol.ts';
import type { ReaderPool } from '../../ledger-reads/reader-pool.ts';
import type { PriceEndpoint } from '../../model/endpoint.ts';
import type { PriceQuery } from '../../model/price-query.ts';
import type { TableFormat, TextFormat } from '../../model/table.ts';
import { ParquetAnswer } from '../../parquet/parquet-answer.ts';
import type { EntityTags } from '../../response/etag.ts';
import { acceptsGzip } from '../../response/gzip.ts';
import { LargeResponses } from '../large/large-responses.ts';
import type { PriceRequest } from '../request/price-request.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { Response, Step } from '../request/step.ts';
import type { Charge } from './charge.ts';
import type { Delivery } from './deliver.ts';
import type { AnswerEncoder } from './encode-answer.ts';

export interface SendFromLedgerOptions {
  board: Board;
  tags: EntityTags;
  encoder: AnswerEncoder;
  charge: Charge;
  clientAddress: ClientAddress;
  delivery: Delivery;
  readers: ReaderPool;
  confirmedWrites: ConfirmedWrites;
  /** Holds the pages of a table while it is sent. */
  downloadsDir: string;
}

export function readsLedger({ endpoint, priceQuery }: PriceRequest): boolean {
  return endpoint.readsLedger === true || priceQuery.readsLedger === true || priceQuery.asOf !== undefined;
}

/**
 * Answers a request about the past (`asOf`, revisions) in a reader thread. The read is what costs, so the unit is charged
 * first, whatever the outcome.
 */
export function sendFromLedger(options: SendFromLedgerOptions): Step<PriceEndpoint> {
  const sender = new LedgerSender(options);
  return (context, endpoint) =>
    readsLedger(context.priceRequest!) ? sender.send(context, endpoint, context.priceRequest!) : undefined;
}

/** Charges, has a reader thread read, and delivers. */
class LedgerSender {
  readonly #options: SendFromLedgerOptions;
  readonly #largeResponses: LargeResponses;

  constructor(options: SendFromLedgerOptions) {
    this.#options = options;
    const atOnceMax = Number.POSITIVE_INFINITY; // the readers have their own limit
    this.#largeResponses = new LargeResponses(options.clientAddress, atOnceMax);
  }

  async send(
    context: RequestContext,
    endpoint: PriceEndpoint,
    priceRequest: PriceRequest,
  ): Promise<Response> {
    const { charge, delivery, downloadsDir, readers } = this.#options;
    const customer = context.customer!;
    const { format } = priceRequest.context;
    const slot = readers.reserve(customer.id);
    try {
      await charge.take(context, endpoint);
      const request = this.#requestOf(context, priceRequest);
      const read = (from?: Partial<LedgerRequest>) =>
        slot.read({ ...request, ...from }, () => context.peer() !== '');
      if (format === 'json') {
        return await this.#largeResponses.build(context, async () =>
          delivery.sendPaid(context, this.#answerOf(priceRequest, await read())),
        );
      }
      const response = await read();
      if (isPaidByRead(response) && format !== 'parquet') {
        return delivery.sendPaid(context, this.#answerOf(priceRequest, response));
      }
      const requireAffordable = (units: number) => charge.requireAffordable(context, units);
      const options = { format: textFormatOf(format), dir: downloadsDir, read, requireAffordable };
      const source = new LedgerTableSource(response, options);
      return await delivery.send(context, endpoint, this.#tableOf(priceRequest, response, source));
    } finally {
      slot.release();
    }
  }

  #requestOf({ request, target }: RequestContext, priceRequest: PriceRequest): LedgerRequest {
    const { board, confirmedWrites } = this.#options;
    const { endpoint, context, view, warnings } = priceRequest;
    const { plan, now, format, dialect } = context;
    return {
      endpoint: endpoint.name,
      query: target.query,
      plan,
      now,
      horizon: board.horizon(view, now),
      format: format === 'json' ? format : textFormatOf(format),
      dialect,
      warnings,
      known: {
        epoch: board.epoch,
        revision: confirmedWrites.areFollowed ? board.revision : Number.MAX_SAFE_INTEGER,
        catalogRevision: board.catalogRevision,
      },
      gzip: request.method === 'GET' && acceptsGzip(request.headers.get('accept-encoding')),
    };
  }

  /** Never cached: no series version shows when it changes. */
  #answerOf(priceRequest: PriceRequest, response: LedgerResponse): CachedAnswer {
    const { packet, gzipped, next, finality, warnings, length, contentFrom, type } = response;
    const body = { packet: bufferPool.adopt(Buffer.from(packet.buffer) as Bytes), length, contentFrom, type };
    return this.#options.encoder.encode(priceRequest, { body, gzipped, next, finality, warnings });
  }

  /**
   * The tag is needed before the whole table is read, so it covers what the table is made of instead: the endpoint, the request, the
   * symbols and formulas in it, the ledger's revision, and the horizon as long as it hides some of that revision.
   */
  #tableOf(priceRequest: PriceRequest, first: LedgerResponse, source: TableSource): Download | ParquetAnswer {
    const { encoder, tags } = this.#options;
    const { endpoint, context, priceQuery, view } = priceRequest;
    const { finality, revision, hiddenAfter = null, columns, warnings } = first;
    const sent = [...context.query].filter(({ name }) => name !== 'apiKey');
    const parameters = sent.map(({ name, values }) => [name, values]);
    const prices = finality === 'final' || [revision, hiddenAfter];
    const definitions = definitionsOf(priceQuery);
    const state = JSON.stringify([endpoint.name, context.format, prices, parameters, definitions]);
    const etag = tags.ofState(state, view.delayMs);
    if (context.format === 'parquet') return new ParquetAnswer({ columns, source, finality, etag, warnings });
    return encoder.download(priceRequest, { source, finality, etag, warnings });
  }
}

/** What the rows of symbols and formulas depend on besides their prices. */
function definitionsOf({ symbols = [], series }: PriceQuery) {
  const all = [...symbols.map((requested) => requested.series), ...series];
  return all.map(({ symbol: { id, code, formula = code, decimals, updateInterval, unit, currency } }) => {
    return [id, formula, decimals, updateInterval, unit.symbol, currency.code];
  });
}

/** Rows for Parquet are written as NDJSON first. */
function textFormatOf(format: TableFormat): TextFormat {
  return format === 'parquet' ? 'ndjson' : format;
}
