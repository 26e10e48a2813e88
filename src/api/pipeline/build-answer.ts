import type { Board } from '../../board/board.ts';
import type { Series } from '../../board/series/series.ts';
import type { Prices } from '../../board/views/prices.ts';
import type { View } from '../../board/views/view.ts';
import { type Bytes, bufferPool } from '../../http/message/buffer-pool.ts';
import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import type { Plan } from '../../ledger/accounts/plans.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Log, messageOf } from '../../runtime/log/log.ts';
import type { AnswerCache } from '../cache/answer-cache.ts';
import { CachedAnswer } from '../cache/cached-answer.ts';
import { DeferredAnswer } from '../cache/deferred-answer.ts';
import { ConvertedPrices } from '../conversion/converted-prices.ts';
import { Download } from '../download/download.ts';
import { gzipInSlices } from '../download/gzip-chunks.ts';
import { LongTableSource } from '../download/long-table-source.ts';
import type { TableSource } from '../download/table-source.ts';
import type { ConfirmedWrites } from '../ledger-reads/confirmed-writes.ts';
import type { LedgerRequest, LedgerResponse } from '../ledger-reads/protocol.ts';
import type { EndpointContext, Finality, PriceEndpoint, PriceQuery } from '../model/endpoint.ts';
import type { LargeAnswer } from '../model/large-answer.ts';
import type { LongTable } from '../model/long-table.ts';
import { type MaybeAsync, maybeAsync } from '../model/maybe-async.ts';
import { type QueryParams, readTarget } from '../model/query.ts';
import type { Format, TableFormat } from '../model/table.ts';
import { nextLink } from '../params/cursor.ts';
import type { EntityTags } from '../response/etag.ts';
import { type Body, contentOf, formatAccepted, formatInUrl, noBody, writeDown } from '../response/format.ts';
import { acceptsGzip, COMPRESS_FROM_BYTES } from '../response/gzip.ts';

export interface AnsweringOptions {
  board: Board;
  clock: Clock;
  tags: EntityTags;
  kept: AnswerCache;
  confirmedWrites: ConfirmedWrites;
  log: Log;
}

/**
 * Prepares answers: what is asked, from which prices, in which format.
 *
 *     understand ─► series in memory ─► prices ─► in another currency or unit ─► answer ─► JSON, CSV, NDJSON
 *           └─────► reader thread: the same from the ledger, as of a moment
 */
export class Answering {
  readonly #board: Board;
  readonly #clock: Clock;
  readonly #tags: EntityTags;
  readonly #kept: AnswerCache;
  readonly #confirmedWrites: ConfirmedWrites;
  readonly #log: Log;

  constructor({ board, clock, tags, kept, confirmedWrites, log }: AnsweringOptions) {
    this.#board = board;
    this.#clock = clock;
    this.#tags = tags;
    this.#kept = kept;
    this.#confirmedWrites = confirmedWrites;
    this.#log = log;
  }

  /** Reads the parameters. A wrong one is refused. */
  understand(
    request: IncomingRequest,
    endpoint: PriceEndpoint,
    query: QueryParams,
    plan: Plan,
  ): PriceRequest {
    const board = this.#board;
    const named = formatInUrl(query);
    const format = named ?? formatAccepted(request.headers.get('accept'));
    const context: EndpointContext = { query, plan, board, now: this.#clock.now(), format };
    const priceQuery = endpoint.read(context);
    const view = board.view(plan.delaySeconds * 1000);
    return { url: request.url, endpoint, context, named, priceQuery, view };
  }

  /** Prepares an answer from memory, and keeps it for the next time. Loaded series may be evicted while others load: it starts over. */
  prepare(priceRequest: PriceRequest): MaybeAsync<Prepared> {
    const { endpoint, context, priceQuery, view } = priceRequest;
    const loading = this.#board.prepare(priceQuery.series, endpoint.needs, context.now);
    return loading ? loading.then(() => this.prepare(priceRequest)) : this.#answer(priceRequest, view);
  }

  /** What a reader thread is asked for. */
  ledgerRequest({ endpoint, context, view, url }: PriceRequest, request: IncomingRequest): LedgerRequest {
    const { plan, now, format } = context;
    return {
      endpoint: endpoint.name,
      query: readTarget(url).query,
      plan,
      now,
      horizon: this.#board.horizon(view, now),
      format,
      known: {
        epoch: this.#board.epoch,
        revision: this.#confirmedWrites.areFollowed ? this.#board.revision : Number.MAX_SAFE_INTEGER,
        catalogRevision: this.#board.catalogRevision,
      },
      gzip: request.method === 'GET' && acceptsGzip(request.headers.get('accept-encoding')),
    };
  }

  /** A response of a reader thread. It is never kept: no series tells when it changes. */
  fromLedger(
    priceRequest: PriceRequest,
    { packet, gzipped, next, finality, length, contentFrom, type }: LedgerResponse,
  ): CachedAnswer {
    const body = { packet: bufferPool.adopt(Buffer.from(packet.buffer) as Bytes), length, contentFrom, type };
    const written = { body, gzipped, next, finality };
    return this.#ready(priceRequest, written, this.#tagOf(priceRequest, written));
  }

  #answer(priceRequest: PriceRequest, seen: Prices): MaybeAsync<Prepared> {
    const { endpoint, context, priceQuery } = priceRequest;
    const { conversion } = priceQuery;
    const prices = conversion ? new ConvertedPrices(seen, conversion, context.now) : seen;
    const large = endpoint.large?.(priceQuery, prices, context);
    if (large) return maybeAsync(large, (answer) => this.#defer(priceRequest, answer));
    const answer = endpoint.answer(priceQuery, prices, context);
    return maybeAsync(answer, (read) => {
      const { finality, next } = read;
      const body = writeDown(read, context.format);
      if ('columns' in body) return this.#download(priceRequest, body, finality);
      const written = { body, finality, next };
      const ready = this.#ready(priceRequest, written, this.#tagOf(priceRequest, written));
      this.#keep(priceRequest, ready);
      return ready;
    });
  }

  /** Its tag is known at once, its body is written when somebody pays for it. */
  #defer(priceRequest: PriceRequest, large: LargeAnswer): DeferredAnswer {
    const { finality, next } = large;
    const etag = this.#tagOfState(priceRequest, large);
    const head = this.#ready(
      priceRequest,
      { body: noBody(priceRequest.context.format), finality, next },
      etag,
    );
    return new DeferredAnswer(head, async (wantsGzip) => {
      const answer = await large.build();
      const body = writeDown(answer, 'json') as Body;
      const isLong = body.length > COMPRESS_FROM_BYTES;
      const gzipped = wantsGzip && isLong ? await gzipInSlices(contentOf(body)) : undefined;
      // Never cached: its prices may have changed while it was built.
      return this.#ready(priceRequest, { body, gzipped, finality, next }, etag);
    });
  }

  #tagOf(priceRequest: PriceRequest, { body, finality }: Written): string {
    const { delayMs } = priceRequest.view;
    const newest = newestTagged(priceRequest, finality);
    return this.#tags.ofContent(contentOf(body), { delayMs, weak: body.contentFrom > 0, newest });
  }

  #tagOfState(
    priceRequest: PriceRequest,
    { state, finality }: { state: string; finality: Finality },
  ): string {
    const newest = newestTagged(priceRequest, finality)?.toHex() ?? '';
    return this.#tags.ofState(`${priceRequest.context.format} ${newest} ${state}`, priceRequest.view.delayMs);
  }

  #download(priceRequest: PriceRequest, table: LongTable, finality: Finality): Download {
    const { context } = priceRequest;
    const format = context.format as TableFormat;
    const etag = this.#tagOfState(priceRequest, { state: table.state, finality });
    const source = new LongTableSource(table, format);
    return new Download({ source, format, finality, etag, plan: context.plan, onFailure: this.#onFailure });
  }

  /** A table that was read from the ledger. Nothing has read all of it when a tag is needed: its moment stands for its content. */
  pastDownload(
    { context, priceQuery, view }: PriceRequest,
    first: LedgerResponse,
    source: TableSource,
  ): Download {
    const { plan, query } = context;
    const format = context.format as TableFormat;
    const { finality, revision } = first;
    const parameters = [...query].filter(([name]) => name !== 'apiKey');
    const measures = priceQuery.series.map(({ symbol }) => [symbol.unit.symbol, symbol.currency.code]);
    const state = JSON.stringify([format, finality === 'final' || revision, parameters, measures]);
    const etag = this.#tags.ofState(state, view.delayMs);
    return new Download({ source, format, finality, etag, plan, onFailure: this.#onFailure });
  }

  readonly #onFailure = (error: unknown): void => {
    this.#log.error('download failed', { message: messageOf(error) });
  };

  #ready(priceRequest: PriceRequest, { body, gzipped, finality, next }: Written, etag: string): CachedAnswer {
    const { context, priceQuery, view } = priceRequest;
    const { query, plan, board, now } = context;
    return new CachedAnswer({
      body,
      gzipped,
      finality,
      etag,
      link: next === undefined ? undefined : nextLink(query, next),
      series: priceQuery.series,
      view,
      board,
      plan,
      now,
    });
  }

  /** A URL does not tell what `Accept` says. */
  #keep({ url, endpoint, context, named }: PriceRequest, ready: CachedAnswer): void {
    if (!named && context.format !== 'json') return;
    const keys = context.query.get('apiKey');
    const key = keys?.length === 1 ? keys[0]!.trim() : undefined;
    this.#kept.keep(url, { endpoint, key, namesFormat: named !== undefined }, context.plan, ready);
  }
}

/** Where the newest price of each series stands, while the answer can change. */
function newestTagged({ priceQuery, view }: PriceRequest, finality: Finality): Uint8Array | undefined {
  const tagged = finality === 'open' && !priceQuery.asOf ? priceQuery.tagged : undefined;
  return tagged && newestOf(tagged, view);
}

/** Day and moment of the newest price that a view shows of each series. */
function newestOf(series: readonly Series[], view: View): Uint8Array {
  const moments = new Float64Array(2 * series.length);
  series.forEach((one, i) => {
    const { day = -1, at = -1 } = view.latest(one) ?? {};
    moments[2 * i] = day;
    moments[2 * i + 1] = at;
  });
  return new Uint8Array(moments.buffer);
}

/** Whether a request has to read the ledger. */
export function readsLedger({ endpoint, priceQuery }: PriceRequest): boolean {
  return endpoint.readsLedger === true || priceQuery.asOf !== undefined;
}

/** An answer that is ready to be sent, one that is built when it is paid for, or one that is written while it is sent. */
export type Prepared = CachedAnswer | DeferredAnswer | Download;

/** A body, and what its headers tell of it. */
interface Written {
  body: Body;
  gzipped?: Uint8Array<ArrayBuffer> | undefined;
  finality: Finality;
  next: string | undefined;
}

/** One request, as far as it is understood. */
export interface PriceRequest {
  url: string;
  endpoint: PriceEndpoint;
  context: EndpointContext;
  /** The format that the URL names. */
  named: Format | undefined;
  priceQuery: PriceQuery;
  view: View;
}
