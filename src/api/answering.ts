import type { Board } from '../board/board.ts';
import type { Prices } from '../board/prices.ts';
import type { Series } from '../board/series.ts';
import type { View } from '../board/view.ts';
import type { Clock } from '../clock.ts';
import type { Bytes } from '../http/bytes.ts';
import type { Incoming } from '../http/incoming.ts';
import type { Plan } from '../ledger/accounts.ts';
import { ConvertedPrices } from './converted-prices.ts';
import { acceptsGzip } from './encoding.ts';
import type { Context, Lasting, PriceEndpoint, Question } from './endpoint.ts';
import type { EntityTags } from './etag.ts';
import { type Body, type Format, formatAccepted, formatInUrl, writeDown } from './format.ts';
import type { KeptAnswers } from './kept-answers.ts';
import { nextLink } from './paging.ts';
import type { Place } from './past/readers.ts';
import { type Query, readTarget } from './query.ts';
import { ReadyAnswer } from './ready-answer.ts';
import { type Soon, soon } from './soon.ts';

export interface AnsweringOptions {
  board: Board;
  clock: Clock;
  tags: EntityTags;
  kept: KeptAnswers;
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

  constructor({ board, clock, tags, kept }: AnsweringOptions) {
    this.#board = board;
    this.#clock = clock;
    this.#tags = tags;
    this.#kept = kept;
  }

  /** Reads the parameters. A wrong one is refused. */
  understand(request: Incoming, endpoint: PriceEndpoint, query: Query, plan: Plan): Asked {
    const board = this.#board;
    const context: Context = { query, plan, board, now: this.#clock.now() };
    const named = formatInUrl(query);
    const format = named ?? formatAccepted(request.headers.get('accept'));
    const question = endpoint.read(context);
    const view = board.view(plan.delaySeconds * 1000);
    return { url: request.url, endpoint, context, named, format, question, view };
  }

  /** Prepares an answer from memory, and keeps it for the next time. Loaded series may be evicted while others load: it starts over. */
  prepare(asked: Asked): Soon<ReadyAnswer> {
    const { endpoint, context, question, view } = asked;
    const loading = this.#board.prepare(question.series, endpoint.needs, context.now);
    return loading ? loading.then(() => this.prepare(asked)) : this.#answer(asked, view);
  }

  /** Has a reader thread prepare the answer from the ledger. It is never kept: no series tells when it changes. */
  async read(asked: Asked, request: Incoming, place: Place, isWanted: () => boolean): Promise<ReadyAnswer> {
    const { endpoint, context, format, view, url } = asked;
    const { plan, now } = context;
    const { packet, gzipped, next, lasting, ...body } = await place.read(
      {
        endpoint: endpoint.name,
        query: readTarget(url).query,
        plan,
        now,
        horizon: this.#board.horizon(view, now),
        format,
        gzip: request.method === 'GET' && acceptsGzip(request.headers.get('accept-encoding')),
      },
      isWanted,
    );
    const bytes = Buffer.from(packet.buffer) as Bytes;
    return this.#ready(asked, { body: { ...body, packet: bytes }, gzipped, next, lasting });
  }

  #answer(asked: Asked, seen: Prices): Soon<ReadyAnswer> {
    const { endpoint, context, question } = asked;
    const { conversion } = question;
    const prices = conversion ? new ConvertedPrices(seen, conversion, context.now) : seen;
    const answer = endpoint.answer(question, prices, context);
    return soon(answer, (read) => {
      const { lasting, next } = read;
      const ready = this.#ready(asked, { body: writeDown(read, asked.format), lasting, next });
      if (!this.#keep(asked, ready)) ready.giveAway();
      return ready;
    });
  }

  #ready({ context, question, view }: Asked, { body, gzipped, lasting, next }: Written): ReadyAnswer {
    const { query, plan, board, now } = context;
    const tagged = lasting === 'open' && !question.asOf ? question.tagged : undefined;
    return new ReadyAnswer({
      body,
      gzipped,
      lasting,
      newest: tagged && newestOf(tagged, view),
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
  #keep({ url, endpoint, context, named, format }: Asked, ready: ReadyAnswer): boolean {
    if (!named && format !== 'json') return false;
    const keys = context.query.get('apiKey');
    const key = keys?.length === 1 ? keys[0]!.trim() : undefined;
    return this.#kept.keep(url, { endpoint, key, namesFormat: named !== undefined }, context.plan, ready);
  }
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
  format: Format;
  question: Question;
  view: View;
}
