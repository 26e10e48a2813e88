import type { Board } from '../board/board.ts';
import type { Prices } from '../board/prices.ts';
import type { Series } from '../board/series.ts';
import type { View } from '../board/view.ts';
import type { Clock } from '../clock.ts';
import type { Bytes } from '../http/bytes.ts';
import type { Incoming } from '../http/incoming.ts';
import type { Plan } from '../ledger/accounts.ts';
import { type Log, messageOf } from '../log.ts';
import { ConvertedPrices } from './converted-prices.ts';
import { LongTableSource } from './download/chunks.ts';
import { Download, type TableSource } from './download/download.ts';
import type { LongTable } from './download/long-table.ts';
import { acceptsGzip } from './encoding.ts';
import type { Context, Lasting, PriceEndpoint, Question } from './endpoint.ts';
import type { EntityTags } from './etag.ts';
import { type Body, formatAccepted, formatInUrl, writeDown } from './format.ts';
import type { KeptAnswers } from './kept-answers.ts';
import { nextLink } from './paging.ts';
import type { LedgerRequest, LedgerResponse } from './past/protocol.ts';
import { type Query, readTarget } from './query.ts';
import { ReadyAnswer } from './ready-answer.ts';
import { type Soon, soon } from './soon.ts';
import type { Format, TableFormat } from './table.ts';

export interface AnsweringOptions {
  board: Board;
  clock: Clock;
  tags: EntityTags;
  kept: KeptAnswers;
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
  readonly #log: Log;

  constructor({ board, clock, tags, kept, log }: AnsweringOptions) {
    this.#board = board;
    this.#clock = clock;
    this.#tags = tags;
    this.#kept = kept;
    this.#log = log;
  }

  /** Reads the parameters. A wrong one is refused. */
  understand(request: Incoming, endpoint: PriceEndpoint, query: Query, plan: Plan): Asked {
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
  ledgerRequest({ endpoint, context, view, url }: Asked, request: Incoming): LedgerRequest {
    const { plan, now, format } = context;
    return {
      endpoint: endpoint.name,
      query: readTarget(url).query,
      plan,
      now,
      horizon: this.#board.horizon(view, now),
      format,
      gzip: request.method === 'GET' && acceptsGzip(request.headers.get('accept-encoding')),
    };
  }

  /** A response of a reader thread. It is never kept: no series tells when it changes. */
  fromLedger(
    asked: Asked,
    { packet, gzipped, next, lasting, length, contentFrom, type }: LedgerResponse,
  ): ReadyAnswer {
    const body = { packet: Buffer.from(packet.buffer) as Bytes, length, contentFrom, type };
    return this.#ready(asked, { body, gzipped, next, lasting });
  }

  #answer(asked: Asked, seen: Prices): Soon<Prepared> {
    const { endpoint, context, question } = asked;
    const { conversion } = question;
    const prices = conversion ? new ConvertedPrices(seen, conversion, context.now) : seen;
    const answer = endpoint.answer(question, prices, context);
    return soon(answer, (read) => {
      const { lasting, next } = read;
      const body = writeDown(read, context.format);
      if ('columns' in body) return this.#download(asked, body, lasting);
      const ready = this.#ready(asked, { body, lasting, next });
      if (!this.#keep(asked, ready)) ready.giveAway();
      return ready;
    });
  }

  #download(asked: Asked, table: LongTable, lasting: Lasting): Download {
    const { context, view } = asked;
    const format = context.format as TableFormat;
    const newest = newestTagged(asked, lasting)?.toHex() ?? '';
    const etag = this.#tags.ofState(`${format} ${newest} ${table.state}`, view.delayMs);
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

  #ready(asked: Asked, { body, gzipped, lasting, next }: Written): ReadyAnswer {
    const { context, question, view } = asked;
    const { query, plan, board, now } = context;
    return new ReadyAnswer({
      body,
      gzipped,
      lasting,
      newest: newestTagged(asked, lasting),
      tags: this.#tags,
      link: next === undefined ? undefined : nextLink(query, next),
      series: question.series,
      view,
      board,
      plan,
      now,
    });
  }

  /** A URL does not tell what `Accept` says. */
  #keep({ url, endpoint, context, named }: Asked, ready: ReadyAnswer): boolean {
    if (!named && context.format !== 'json') return false;
    const keys = context.query.get('apiKey');
    const key = keys?.length === 1 ? keys[0]!.trim() : undefined;
    return this.#kept.keep(url, { endpoint, key, namesFormat: named !== undefined }, context.plan, ready);
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

/** An answer that is ready to be sent, or one that is written while it is sent. */
export type Prepared = ReadyAnswer | Download;

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
