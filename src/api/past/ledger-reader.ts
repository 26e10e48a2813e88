import { Board } from '../../board/board.ts';
import { PastPrices, type Window } from '../../board/past/past-prices.ts';
import type { Moment } from '../../board/past/strands.ts';
import { PastVersions } from '../../board/past/versions.ts';
import type { Clock } from '../../clock.ts';
import type { CountedEndpoint } from '../../gate/endpoints.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { DayRange } from '../../ledger/prices/past.ts';
import { LOOK_BACK_DAYS } from '../../market/symbol.ts';
import { lastingAsOf } from '../as-of.ts';
import { ConvertedPrices, RATE_DAYS_MAX } from '../converted-prices.ts';
import { unitsByRows } from '../download/long-table.ts';
import { COMPRESS_FROM_BYTES, gzip } from '../encoding.ts';
import type { Answer, Context, Lasting, PriceEndpoint, Question } from '../endpoint.ts';
import { fluctuation } from '../endpoints/fluctuation.ts';
import { historical } from '../endpoints/historical.ts';
import { history } from '../endpoints/history.ts';
import { revisions } from '../endpoints/revisions.ts';
import { timeSeries } from '../endpoints/time-series.ts';
import { refuse } from '../errors.ts';
import { type Body, TYPES, writeDown } from '../format.ts';
import { readQuery } from '../query.ts';
import { HEAD_ROOM } from '../representation.ts';
import { type TableFormat, tableWriter } from '../table.ts';
import type { LedgerRequest, LedgerResponse } from './protocol.ts';

const ENDPOINTS: ReadonlyMap<CountedEndpoint, PriceEndpoint> = new Map(
  [historical, timeSeries, fluctuation, history, revisions].map((endpoint) => [endpoint.name, endpoint]),
);

/** A table is written in memory as a whole: this is about 15 MB. */
const TABLE_ROWS_MAX = 200_000;

/** A response without its head. */
interface Written {
  question: Question;
  content: readonly Uint8Array[];
  contentFrom?: number;
  units: number;
  lasting: Lasting;
  next: string | undefined;
}

/** Prepares the responses that have to be read from the ledger. It runs in a reader thread. */
export class LedgerReader {
  readonly #ledger: Ledger;
  readonly #board: Board;
  readonly #simulated: boolean;

  private constructor(ledger: Ledger, board: Board, simulated: boolean) {
    this.#ledger = ledger;
    this.#board = board;
    this.#simulated = simulated;
  }

  static async open(ledger: Ledger, clock: Clock, simulated: boolean): Promise<LedgerReader> {
    const board = await Board.open({ ledger, clock, historyBytesMax: 0, simulated }, []);
    return new LedgerReader(ledger, board, simulated);
  }

  async respond(request: LedgerRequest): Promise<LedgerResponse> {
    await this.#board.followCatalog();
    const { format, now, plan } = request;
    const endpoint = ENDPOINTS.get(request.endpoint)!;
    const context: Context = { query: readQuery(request.query), plan, board: this.#board, now, format };
    const {
      question,
      content,
      units,
      contentFrom = 0,
      lasting,
      next,
    } = format === 'json'
      ? await this.#page(endpoint, context, request.horizon)
      : await this.#wholeTable(endpoint, context, request.horizon, format);
    const length = content.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const packet = new Uint8Array(HEAD_ROOM + length); // of its own, because it moves to the serving thread
    let end = HEAD_ROOM;
    for (const part of content) {
      packet.set(part, end);
      end += part.byteLength;
    }
    const isLong = request.gzip && length > COMPRESS_FROM_BYTES;
    return {
      packet,
      length,
      contentFrom,
      type: TYPES[format],
      gzipped: isLong ? gzip(packet.subarray(HEAD_ROOM)) : undefined,
      units,
      lasting: question.asOf ? lastingAsOf(question.asOf, now) : lasting,
      next,
    };
  }

  /** One page of JSON. */
  async #page(endpoint: PriceEndpoint, context: Context, horizon: number): Promise<Written> {
    const question = endpoint.read(context);
    const answer = await this.#answer(endpoint, question, context, horizon);
    const { packet, length, contentFrom } = writeDown(answer, 'json') as Body;
    const content = [packet.subarray(HEAD_ROOM, HEAD_ROOM + length)];
    return { question, content, contentFrom, units: 1, lasting: answer.lasting, next: answer.next };
  }

  /** A table is never cut off: all pages of it, one after the other. */
  async #wholeTable(
    endpoint: PriceEndpoint,
    first: Context,
    horizon: number,
    format: TableFormat,
  ): Promise<Written> {
    const content: Uint8Array[] = [];
    const writer = tableWriter(format);
    let rows = 0;
    for (let context = first; ; ) {
      const question = endpoint.read(context);
      const answer = await this.#answer(endpoint, question, context, horizon);
      const table = answer.table!();
      if (content.length === 0) content.push(Buffer.from(writer.head(table.columns)));
      for (const piece of 'rows' in table ? [table.rows] : table.pieces()) {
        content.push(Buffer.from(writer.body(table.columns, piece)));
        rows += piece.length;
      }
      if (rows > TABLE_ROWS_MAX) throw refuse('too_many_rows', { max: TABLE_ROWS_MAX });
      if (answer.next === undefined) {
        const units = endpoint.name === 'time-series' ? 1 : unitsByRows(rows);
        return { question, content, units, lasting: answer.lasting, next: undefined };
      }
      context = { ...first, query: new Map(first.query).set('cursor', [answer.next]) };
    }
  }

  async #answer(
    endpoint: PriceEndpoint,
    question: Question,
    context: Context,
    horizon: number,
  ): Promise<Answer> {
    const moment = this.#moment(question, context, horizon);
    const past = await PastPrices.open(this.#ledger, endpoint.readsLedger ? [] : question.series, moment);
    const { ranges = [], looksBack = false } = endpoint.reads?.(question) ?? {};
    await past.load(ranges.flatMap((days) => windowsOf(question, days, looksBack)));
    const prices = question.conversion ? new ConvertedPrices(past, question.conversion, context.now) : past;
    return endpoint.answer(question, prices, {
      ...context,
      past: {
        load: (days) => past.load(windowsOf(question, days, false)),
        versions: () => PastVersions.open(this.#ledger, question.series, moment),
      },
    });
  }

  #moment({ asOf }: Question, { plan }: Context, horizon: number): Moment {
    const delayMs = plan.delaySeconds * 1000;
    const recordedBy = asOf?.moment ?? Number.MAX_SAFE_INTEGER;
    return {
      delayMs,
      horizon: Math.min(horizon, recordedBy - delayMs),
      recordedBy,
      simulated: this.#simulated,
    };
  }
}

/** The days to load of each series: those that are asked for, and those before that may stand for the first of them. */
function windowsOf(
  { series, conversion }: Question,
  { first, last }: DayRange,
  looksBack: boolean,
): Window[] {
  const rates = new Set(conversion?.rates);
  const longest = looksBack ? LOOK_BACK_DAYS.month : 0;
  return [...new Set(series)].map((one) => {
    const own = looksBack ? LOOK_BACK_DAYS[one.symbol.updateInterval] : 0;
    return { series: one, first: first - (rates.has(one) ? longest + RATE_DAYS_MAX : own), last };
  });
}
