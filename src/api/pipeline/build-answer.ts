import type { Board } from '../../board/board.ts';
import type { Prices } from '../../board/prices.ts';
import type { Series } from '../../board/series/series.ts';
import type { View } from '../../board/views/view.ts';
import { type Bytes, bufferPool } from '../../http/message/buffer-pool.ts';
import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import type { Plan } from '../../ledger/accounts/accounts.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Log, messageOf } from '../../runtime/log/log.ts';
import type { KeptAnswers } from '../cache/answer-cache.ts';
import { ReadyAnswer } from '../cache/cached-answer.ts';
import { DeferredAnswer } from '../cache/deferred-answer.ts';
import { ConvertedPrices } from '../conversion/converted-prices.ts';
import { Download } from '../download/download.ts';
import { gzipInSlices } from '../download/gzip-chunks.ts';
import { LongTableSource } from '../download/long-table-source.ts';
import type { TableSource } from '../download/table-source.ts';
import type { ConfirmedWrites } from '../ledger-reads/confirmed-writes.ts';
import type { LedgerRequest, LedgerResponse } from '../ledger-reads/protocol.ts';
import type { Context, Lasting, PriceEndpoint, Question } from '../model/endpoint.ts';
import type { LargeAnswer } from '../model/large-answer.ts';
import type { LongTable } from '../model/long-table.ts';
import { type Soon, soon } from '../model/maybe-async.ts';
import { type Query, readTarget } from '../model/query.ts';
import type { Format, TableFormat } from '../model/table.ts';
import { nextLink } from '../params/cursor.ts';
import type { EntityTags } from '../response/etag.ts';
import { type Body, contentOf, formatAccepted, formatInUrl, noBody, writeDown } from '../response/format.ts';
import { acceptsGzip, COMPRESS_FROM_BYTES } from '../response/gzip.ts';

export interface AnsweringOptions {
  board: Board;
  clock: Clock;
  tags: EntityTags;
  kept: KeptAnswers;
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
  readonly #kept: KeptAnswers;
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
  understand(request: IncomingRequest, endpoint: PriceEndpoint, query: Query, plan: Plan): Asked {
    const board = this.#board;
    const named = formatInUrl(query);
    const format = named ?? formatAccepted(request.headers.get('accept'));
    const context: Context = { query, plan, board, now: this.#clock.now(), format };
    const question = endpoint.read(context);
    const view = board.view(plan.delaySeconds * 1000);
    return { url: request.url, endpoint, context, named, question, view };
  }

  /** Prepares an answer from memory, and keeps it for the next time. Loaded series may be evicted while others load: it starts over. */
  prepare(asked: Asked): Soon<Prepared> {
    const { endpoint, context, question, view } = asked;
    const loading = this.#board.prepare(question.series, endpoint.needs, context.now);
    return loading ? loading.then(() => this.prepare(asked)) : this.#answer(asked, view);
  }

  /** What a reader thread is asked for. */
  ledgerRequest({ endpoint, context, view, url }: Asked, request: IncomingRequest): LedgerRequest {
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
    asked: Asked,
    { packet, gzipped, next, lasting, length, contentFrom, type }: LedgerResponse,
  ): ReadyAnswer {
    const body = { packet: bufferPool.adopt(Buffer.from(packet.buffer) as Bytes), length, contentFrom, type };
    const written = { body, gzipped, next, lasting };
    return this.#ready(asked, written, this.#tagOf(asked, written));
  }

  #answer(asked: Asked, seen: Prices): Soon<Prepared> {
    const { endpoint, context, question } = asked;
    const { conversion } = question;
    const prices = conversion ? new ConvertedPrices(seen, conversion, context.now) : seen;
    const large = endpoint.large?.(question, prices, context);
    if (large) return soon(large, (answer) => this.#defer(asked, answer));
    const answer = endpoint.answer(question, prices, context);
    return soon(answer, (read) => {
      const { lasting, next } = read;
      const body = writeDown(read, context.format);
      if ('columns' in body) return this.#download(asked, body, lasting);
      const written = { body, lasting, next };
      const ready = this.#ready(asked, written, this.#tagOf(asked, written));
      this.#keep(asked, ready);
      return ready;
    });
  }

  /** Its tag is known at once, its body is written when somebody pays for it. */
  #defer(asked: Asked, large: LargeAnswer): DeferredAnswer {
    const { lasting, next } = large;
    const etag = this.#tagOfState(asked, large);
    const head = this.#ready(asked, { body: noBody(asked.context.format), lasting, next }, etag);
    return new DeferredAnswer(head, async (wantsGzip) => {
      const answer = await large.build();
      const body = writeDown(answer, 'json') as Body;
      const isLong = body.length > COMPRESS_FROM_BYTES;
      const gzipped = wantsGzip && isLong ? await gzipInSlices(contentOf(body)) : undefined;
      // Never cached: its prices may have changed while it was built.
      return this.#ready(asked, { body, gzipped, lasting, next }, etag);
    });
  }

  #tagOf(asked: Asked, { body, lasting }: Written): string {
    const { delayMs } = asked.view;
    const newest = newestTagged(asked, lasting);
    return this.#tags.ofContent(contentOf(body), { delayMs, weak: body.contentFrom > 0, newest });
  }

  #tagOfState(asked: Asked, { state, lasting }: { state: string; lasting: Lasting }): string {
    const newest = newestTagged(asked, lasting)?.toHex() ?? '';
    return this.#tags.ofState(`${asked.context.format} ${newest} ${state}`, asked.view.delayMs);
  }

  #download(asked: Asked, table: LongTable, lasting: Lasting): Download {
    const { context } = asked;
    const format = context.format as TableFormat;
    const etag = this.#tagOfState(asked, { state: table.state, lasting });
    const source = new LongTableSource(table, format);
    return new Download({ source, format, lasting, etag, plan: context.plan, onFailure: this.#onFailure });
  }

  /** A table that was read from the ledger. Nothing has read all of it when a tag is needed: its moment stands for its content. */
  pastDownload({ context, question, view }: Asked, first: LedgerResponse, source: TableSource): Download {
    const { plan, query } = context;
    const format = context.format as TableFormat;
    const { lasting, revision } = first;
    const parameters = [...query].filter(([name]) => name !== 'apiKey');
    const measures = question.series.map(({ symbol }) => [symbol.unit.symbol, symbol.currency.code]);
    const state = JSON.stringify([format, lasting === 'final' || revision, parameters, measures]);
    const etag = this.#tags.ofState(state, view.delayMs);
    return new Download({ source, format, lasting, etag, plan, onFailure: this.#onFailure });
  }

  readonly #onFailure = (error: unknown): void => {
    this.#log.error('download failed', { message: messageOf(error) });
  };

  #ready(asked: Asked, { body, gzipped, lasting, next }: Written, etag: string): ReadyAnswer {
    const { context, question, view } = asked;
    const { query, plan, board, now } = context;
    return new ReadyAnswer({
      body,
      gzipped,
      lasting,
      etag,
      link: next === undefined ? undefined : nextLink(query, next),
      series: question.series,
      view,
      board,
      plan,
      now,
    });
  }

  /** A URL does not tell what `Accept` says. */
  #keep({ url, endpoint, context, named }: Asked, ready: ReadyAnswer): void {
    if (!named && context.format !== 'json') return;
    const keys = context.query.get('apiKey');
    const key = keys?.length === 1 ? keys[0]!.trim() : undefined;
    this.#kept.keep(url, { endpoint, key, namesFormat: named !== undefined }, context.plan, ready);
  }
}

/** Where the newest price of each series stands, while the answer can change. */
function newestTagged({ question, view }: Asked, lasting: Lasting): Uint8Array | undefined {
  const tagged = lasting === 'open' && !question.asOf ? question.tagged : undefined;
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
export function readsLedger({ endpoint, question }: Asked): boolean {
  return endpoint.readsLedger === true || question.asOf !== undefined;
}

/** An answer that is ready to be sent, one that is built when it is paid for, or one that is written while it is sent. */
export type Prepared = ReadyAnswer | DeferredAnswer | Download;

/** A body, and what its headers tell of it. */
interface Written {
  body: Body;
  gzipped?: Uint8Array<ArrayBuffer> | undefined;
  lasting: Lasting;
  next: string | undefined;
}

/** One request, as far as it is understood. */
export interface Asked {
  url: string;
  endpoint: PriceEndpoint;
  context: Context;
  /** The format that the URL names. */
  named: Format | undefined;
  question: Question;
  view: View;
}
