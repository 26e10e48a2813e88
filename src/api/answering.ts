import type { Board } from '../board/board.ts';
import type { Prices } from '../board/prices.ts';
import type { Clock } from '../clock.ts';
import type { Incoming } from '../http/incoming.ts';
import type { Plan } from '../ledger/accounts.ts';
import { lastingAsOf } from './as-of.ts';
import { ConvertedPrices } from './converted-prices.ts';
import type { Context, PriceEndpoint } from './endpoint.ts';
import { formatAccepted, formatInUrl, writeDown } from './format.ts';
import type { KeptAnswers } from './kept-answers.ts';
import { nextLink } from './paging.ts';
import type { Query } from './query.ts';
import { ReadyAnswer } from './ready-answer.ts';

/**
 * Works answers out: what is asked, from which prices, in which format.
 *
 *     read ─► series in memory ─► prices: now, or as of then ─► in another currency or unit ─► answer ─► JSON, CSV, NDJSON
 */
export class Answering {
  readonly #board: Board;
  readonly #clock: Clock;
  readonly #kept: KeptAnswers;

  constructor(board: Board, clock: Clock, kept: KeptAnswers) {
    this.#board = board;
    this.#clock = clock;
    this.#kept = kept;
  }

  /** Works an answer out, and keeps it for the next time. */
  async prepare(request: Incoming, endpoint: PriceEndpoint, query: Query, plan: Plan): Promise<ReadyAnswer> {
    const board = this.#board;
    const context: Context = { query, plan, board, now: this.#clock.now() };
    const named = formatInUrl(query);
    const format = named ?? formatAccepted(request.headers.get('accept'));
    const question = endpoint.read(context);
    const { series, asOf, conversion } = question;
    const view = board.view(plan.delaySeconds * 1000);
    let prices: Prices = view;
    if (asOf) {
      const { moment, first, last } = asOf;
      const at = Math.min(board.horizon(view, context.now) + view.delayMs, moment);
      prices = await board.past(series, { delayMs: view.delayMs, at, recordedBy: moment, first, last });
    }
    // What was loaded can be let go of again while others were waited for: so until all is there, and then at once.
    while (!asOf) {
      const loading = board.prepare(series, endpoint.needs, context.now);
      if (!loading) break;
      await loading;
    }
    if (conversion) prices = new ConvertedPrices(prices, conversion, context.now);
    const answering = endpoint.answer(question, prices, context);
    const answer = answering instanceof Promise ? await answering : answering;
    const ready = new ReadyAnswer({
      body: writeDown(answer, format),
      lasting: asOf ? lastingAsOf(asOf, context.now) : answer.lasting,
      link: answer.next === undefined ? undefined : nextLink(query, answer.next),
      series,
      view,
      board,
      plan,
      now: context.now,
    });
    // What was read from the ledger does not go by the versions of the series, and a URL does not tell what `Accept` says.
    const lives = !asOf && !(answering instanceof Promise);
    if (lives && (named || format === 'json')) {
      const keys = query.get('apiKey');
      const key = keys?.length === 1 ? keys[0]!.trim() : undefined;
      this.#kept.keep(request.url, { endpoint, key, namesFormat: named !== undefined }, plan, ready);
    }
    return ready;
  }
}
