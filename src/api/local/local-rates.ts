import { Board } from '../../board/board.ts';
import { type AskRates, type QueryValues, RequestRefused } from '../../client/ask.ts';
import { type Plan, QUOTA_MAX } from '../../ledger/accounts/plans.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Clock } from '../../runtime/clock.ts';
import { symbols } from '../endpoints/catalog/symbols.ts';
import { fluctuation } from '../endpoints/rates/fluctuation.ts';
import { historical } from '../endpoints/rates/historical.ts';
import { history } from '../endpoints/rates/history.ts';
import { latest } from '../endpoints/rates/latest.ts';
import { statistics } from '../endpoints/rates/statistics.ts';
import { timeSeries } from '../endpoints/rates/time-series.ts';
import { Refusal } from '../errors/errors.ts';
import { pricesOf } from '../formulas/prices-of.ts';
import { LedgerReader } from '../ledger-reads/ledger-reader.ts';
import type { Answer, JsonText } from '../model/answer.ts';
import { HEAD_ROOM, type UnsentBody } from '../model/byte-writer.ts';
import type { EndpointContext, PriceEndpoint } from '../model/endpoint.ts';
import type { PriceQuery } from '../model/price-query.ts';
import { readQuery } from '../model/query.ts';
import { encodeContent } from '../response/format.ts';
import { DIALECTS } from '../versions/dialects.ts';

/** Whoever can read the ledger file may see everything in it. */
const OPERATOR: Plan = {
  name: 'local',
  quota: QUOTA_MAX,
  delaySeconds: 0,
  maxSymbols: 10_000,
  maxSpanDays: 100_000,
  burstPerSecond: 1,
  history: true,
};

const ENDPOINTS: ReadonlyMap<string, PriceEndpoint> = new Map(
  [symbols, latest, historical, timeSeries, fluctuation, history, statistics].map((one) => [one.path, one]),
);

export interface LocalRatesOptions {
  clock: Clock;
  historyBytesMax: number;
  /** Whether symbols without real prices show their simulated ones. */
  simulated: boolean;
}

/** Answers price requests from a ledger on this machine, for its operator: without HTTP, keys, delays and counting. */
export class LocalRates {
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  readonly #simulated: boolean;
  readonly #board: Board;
  /** Opened by the first request that needs it. */
  #reader: Promise<LedgerReader> | undefined;

  private constructor(ledger: Ledger, { clock, simulated }: LocalRatesOptions, board: Board) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#simulated = simulated;
    this.#board = board;
  }

  static async open(ledger: Ledger, options: LocalRatesOptions): Promise<LocalRates> {
    return new LocalRates(ledger, options, await Board.open({ ledger, ...options }, [0]));
  }

  readonly ask: AskRates = async <T>(path: string, params: QueryValues = {}): Promise<T> => {
    const endpoint = ENDPOINTS.get(path);
    if (!endpoint) {
      const message = `${path} is answered by servers only: requests to a ledger are not counted`;
      throw new RequestRefused(message, 404, undefined);
    }
    try {
      await this.#board.follow(await this.#ledger.head());
      return (await this.#answer(endpoint, params)) as T;
    } catch (error) {
      throw error instanceof Refusal ? new RequestRefused(error.message, error.status, error.code) : error;
    }
  };

  async #answer(endpoint: PriceEndpoint, params: QueryValues): Promise<unknown> {
    const now = this.#clock.now();
    const given = Object.entries(params).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const query = String(new URLSearchParams(given));
    const board = this.#board;
    const context: EndpointContext = {
      query: readQuery(query),
      plan: OPERATOR,
      board,
      now,
      format: 'json',
      dialect: DIALECTS.v1,
    };
    const priceQuery = endpoint.read(context);
    if (priceQuery.readsLedger) return this.#readLedger(endpoint, query, context);
    // Until all are in memory: the board may evict a series while others load.
    let loading = board.prepare(priceQuery.series, endpoint.requiredData, now);
    while (loading) {
      await loading;
      loading = board.prepare(priceQuery.series, endpoint.requiredData, now);
    }
    return answerTo(endpoint, priceQuery, context);
  }

  /** A failure is not kept: the next request tries again. */
  #openReader(): Promise<LedgerReader> {
    return LedgerReader.open(this.#ledger, this.#clock, this.#simulated).catch((error) => {
      this.#reader = undefined;
      throw error;
    });
  }

  /** Prices that are not held in memory: minutes and hours. */
  async #readLedger(endpoint: PriceEndpoint, query: string, context: EndpointContext): Promise<unknown> {
    this.#reader ??= this.#openReader();
    const reader = await this.#reader;
    const { plan, now, dialect } = context;
    const { packet, length } = await reader.respond({
      endpoint: endpoint.name,
      query,
      plan,
      now,
      horizon: now,
      format: 'json',
      dialect,
      gzip: false,
      warnings: [],
    });
    return JSON.parse(bodyText(packet, length));
  }
}

async function answerTo(
  endpoint: PriceEndpoint,
  priceQuery: PriceQuery,
  context: EndpointContext,
): Promise<unknown> {
  const prices = pricesOf(context.board.view(0), priceQuery, context.now);
  const large = await endpoint.large?.(priceQuery, prices, context);
  if (large) return withWarnings(await endpoint.build!(priceQuery, large, context), large.warnings);
  const { content, warnings } = await endpoint.answer(priceQuery, prices, context);
  return withWarnings(content, warnings);
}

function withWarnings(
  content: Parameters<typeof contentText>[0],
  warnings: readonly string[] = [],
): Record<string, unknown> {
  const body = JSON.parse(contentText(content));
  return warnings.length > 0 ? { ...body, warnings } : body;
}

function contentText(content: Answer['content'] | JsonText | UnsentBody): string {
  const body = encodeContent(content, 'json');
  if ('columns' in body) throw new Error('expected JSON, not a table');
  return bodyText(body.packet.memory, body.length);
}

function bodyText(packet: Uint8Array, length: number): string {
  return new TextDecoder().decode(packet.subarray(HEAD_ROOM, HEAD_ROOM + length));
}
