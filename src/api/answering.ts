import type { Board } from '../board/board.ts';
import type { Prices } from '../board/prices.ts';
import type { Series } from '../board/series.ts';
import type { View } from '../board/view.ts';
import type { Clock } from '../clock.ts';
import type { Incoming } from '../http/incoming.ts';
import type { Plan } from '../ledger/accounts.ts';
import { lastingAsOf } from './as-of.ts';
import { ConvertedPrices } from './converted-prices.ts';
import type { Answer, Context, PriceEndpoint, Question } from './endpoint.ts';
import type { EntityTags } from './etag.ts';
import { type Format, formatAccepted, formatInUrl, writeDown } from './format.ts';
import type { KeptAnswers } from './kept-answers.ts';
import { nextLink } from './paging.ts';
import type { Query } from './query.ts';
import { ReadyAnswer } from './ready-answer.ts';
import { type Soon, soon } from './soon.ts';

export interface AnsweringOptions {
  board: Board;
  clock: Clock;
  tags: EntityTags;
  kept: KeptAnswers;
}

/**
 * Works answers out: what is asked, from which prices, in which format.
 *
 *     read ─► series in memory ─► prices: now, or as of then ─► in another currency or unit ─► answer ─► JSON, CSV, NDJSON
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

  /** Works an answer out, and keeps it for the next time. */
  prepare(request: Incoming, endpoint: PriceEndpoint, query: Query, plan: Plan): Soon<ReadyAnswer> {
    const board = this.#board;
    const context: Context = { query, plan, board, now: this.#clock.now() };
    const named = formatInUrl(query);
    const format = named ?? formatAccepted(request.headers.get('accept'));
    const question = endpoint.read(context);
    const view = board.view(plan.delaySeconds * 1000);
    const asked: Asked = { url: request.url, endpoint, context, named, format, question, view };
    if (!question.asOf) return this.#fromMemory(asked);
    const { moment, first, last } = question.asOf;
    const at = Math.min(board.horizon(view, context.now) + view.delayMs, moment);
    const past = { delayMs: view.delayMs, at, recordedBy: moment, first, last };
    return board.past(question.series, past).then((prices) => this.#answer(asked, prices));
  }

  /** What was loaded can be let go of again while others were waited for: so until all is there, and then at once. */
  #fromMemory(asked: Asked): Soon<ReadyAnswer> {
    const { endpoint, context, question, view } = asked;
    const loading = this.#board.prepare(question.series, endpoint.needs, context.now);
    return loading ? loading.then(() => this.#fromMemory(asked)) : this.#answer(asked, view);
  }

  #answer(asked: Asked, seen: Prices): Soon<ReadyAnswer> {
    const { endpoint, context, question } = asked;
    const { conversion } = question;
    const prices = conversion ? new ConvertedPrices(seen, conversion, context.now) : seen;
    const answer = endpoint.answer(question, prices, context);
    return soon(answer, (read) => {
      const ready = this.#writeDown(asked, read);
      if (answer instanceof Promise || !this.#keep(asked, ready)) ready.giveAway();
      return ready;
    });
  }

  #writeDown({ context, format, question, view }: Asked, answer: Answer): ReadyAnswer {
    const { query, plan, board, now } = context;
    const lasting = question.asOf ? lastingAsOf(question.asOf, now) : answer.lasting;
    const tagged = lasting === 'open' && !question.asOf ? question.tagged : undefined;
    return new ReadyAnswer({
      body: writeDown(answer, format),
      lasting,
      newest: tagged && newestOf(tagged, view),
      tags: this.#tags,
      link: answer.next === undefined ? undefined : nextLink(query, answer.next),
      series: question.series,
      view,
      board,
      plan,
      now,
    });
  }

  /** What was read from the ledger does not go by the versions of the series, and a URL does not tell what `Accept` says. */
  #keep({ url, endpoint, context, named, format, question }: Asked, ready: ReadyAnswer): boolean {
    if (question.asOf || (!named && format !== 'json')) return false;
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

/** One request, as far as it is understood. */
interface Asked {
  url: string;
  endpoint: PriceEndpoint;
  context: Context;
  /** The format that the URL names. */
  named: Format | undefined;
  format: Format;
  question: Question;
  view: View;
}
