import { Board } from '../../board/board.ts';
import { PastPrices, type SeriesRange } from '../../board/past/past-prices.ts';
import { PastVersions } from '../../board/past/versions.ts';
import type { PastMoment } from '../../board/past/visible-history.ts';
import type { CountedEndpoint } from '../../gate/endpoints.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { DayRange } from '../../ledger/prices/past.ts';
import { utcDay } from '../../market/day.ts';
import type { IntradayInterval, TimeRange } from '../../market/intraday/interval.ts';
import { TRADED_AHEAD_DAYS } from '../../market/session.ts';
import type { Clock } from '../../runtime/clock.ts';
import { RATE_DAYS_MAX } from '../conversion/converted-prices.ts';
import { fluctuation } from '../endpoints/rates/fluctuation.ts';
import { historical } from '../endpoints/rates/historical.ts';
import { history } from '../endpoints/rates/history.ts';
import { revisions } from '../endpoints/rates/revisions.ts';
import { statistics } from '../endpoints/rates/statistics.ts';
import { timeSeries } from '../endpoints/rates/time-series.ts';
import { pricesOf } from '../formulas/prices-of.ts';
import type { Answer } from '../model/answer.ts';
import { HEAD_ROOM } from '../model/byte-writer.ts';
import type { EndpointContext, PriceEndpoint } from '../model/endpoint.ts';
import type { PriceQuery } from '../model/price-query.ts';
import { readQuery } from '../model/query.ts';
import { finalityAsOf } from '../params/as-of.ts';
import { encodeContent } from '../response/format.ts';
import { gzip, PLAIN_BYTES_MAX } from '../response/gzip.ts';
import { addedMembers } from '../response/json.ts';
import type { LedgerRequest, LedgerResponse } from './protocol.ts';

const ENDPOINTS: ReadonlyMap<CountedEndpoint, PriceEndpoint> = new Map(
  [historical, timeSeries, fluctuation, history, revisions, statistics].map((endpoint) => [
    endpoint.name,
    endpoint,
  ]),
);

/** Prepares responses that read the ledger. Runs in a reader thread. */
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

  async respond(request: Omit<LedgerRequest, 'known'>) {
    const { endpoint: name, plan, now, horizon, format, dialect, gzip: wantsGzip } = request;
    await this.#board.followCatalog();
    const endpoint = ENDPOINTS.get(name)!;
    const sent = readQuery(request.query);
    const query = request.cursor === undefined ? sent : sent.with('cursor', request.cursor);
    const context: EndpointContext = { query, plan, board: this.#board, now, format, dialect };
    const priceQuery = endpoint.read(context);
    const revision = (await this.#ledger.head()).prices;
    const moment = this.#moment(priceQuery, context, horizon);
    const answer = await this.#answer(endpoint, priceQuery, context, moment);
    const { content, finality, next } = answer;
    const { unresolved } = priceQuery;
    const members = addedMembers({ unresolved, warnings: request.warnings }, answer.warnings);
    const encoded = encodeContent(content, format, members);
    if ('columns' in encoded) throw new Error('expected a page: tables from the ledger are never streamed');
    const { packet, length, contentFrom, type } = encoded;
    const body = packet.memory.subarray(HEAD_ROOM, HEAD_ROOM + length);
    const transferable = new Uint8Array(HEAD_ROOM + length); // its own buffer, because it moves to the serving thread
    transferable.set(body, HEAD_ROOM);
    const response: LedgerResponse = {
      packet: transferable,
      length,
      contentFrom,
      type,
      gzipped: wantsGzip && length > PLAIN_BYTES_MAX ? gzip(body) : undefined,
      finality: priceQuery.asOf ? finalityAsOf(priceQuery.asOf, now) : finality,
      next,
      isFromStandby: false,
      warnings: answer.warnings ?? [],
      columns: 'rows' in content ? content.columns : [],
      rows: 'rows' in content ? content.rows.length * (content.rowWeight ?? 1) : 0,
      isWide: 'rows' in content && content.rowWeight !== undefined,
      revision,
      hiddenAfter: await this.#hiddenAfter(moment, request),
      isChanged: await this.#isChanged(priceQuery, request.since ?? revision),
    };
    return response;
  }

  /** Whether any bar of these symbols that the request can see was recorded after revision `since`. */
  #isChanged({ series, asOf }: PriceQuery, since: number): Promise<boolean> {
    const symbolIds = series.map(({ symbol }) => symbol.id);
    return this.#ledger.past.hasChanged(symbolIds, since, asOf?.moment ?? Number.MAX_SAFE_INTEGER);
  }

  /** Only the tag of a table needs it, and only the first page has one. */
  async #hiddenAfter(
    { horizon }: PastMoment,
    { format, since }: Pick<LedgerRequest, 'format' | 'since'>,
  ): Promise<number | undefined> {
    if (format === 'json' || since !== undefined) return undefined;
    return (await this.#ledger.past.hasHidden(horizon)) ? horizon : undefined;
  }

  async #answer(
    endpoint: PriceEndpoint,
    priceQuery: PriceQuery,
    context: EndpointContext,
    moment: PastMoment,
  ): Promise<Answer> {
    const past = await PastPrices.open(this.#ledger, endpoint.readsLedger ? [] : priceQuery.series, moment);
    const { ranges = [], lookBackDays = 0 } = endpoint.reads?.(priceQuery) ?? {};
    await past.load(ranges.flatMap((days) => windowsOf(priceQuery, days, lookBackDays)));
    const prices = pricesOf(past, priceQuery, context.now);
    return endpoint.answer(priceQuery, prices, {
      ...context,
      past: {
        load: (days) => past.load(windowsOf(priceQuery, days, 0)),
        loadIntraday: (time, interval, series = priceQuery.series) =>
          loadIntraday(past, { ...priceQuery, series }, time, interval),
        nextIntraday: (from, interval, series = priceQuery.series) =>
          past.nextIntraday(series, from, interval),
        firstIntradayDays: (interval, series) => past.firstIntradayDays(series, interval),
        versions: () => PastVersions.open(this.#ledger, priceQuery.series, moment),
      },
    });
  }

  #moment({ asOf }: PriceQuery, { plan }: EndpointContext, horizon: number): PastMoment {
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

/** Loads the intraday bars of a time, and the exchange rates that convert them. */
export async function loadIntraday(
  past: PastPrices,
  { series, conversion }: PriceQuery,
  time: TimeRange,
  interval: IntradayInterval,
): Promise<void> {
  const rates = conversion?.rates ?? [];
  const days = { first: utcDay(time.from) - RATE_DAYS_MAX, last: utcDay(time.to) + TRADED_AHEAD_DAYS };
  await past.load(rates.map((one) => ({ series: one, ...days })));
  const own = series.filter((one) => !rates.includes(one));
  await past.loadIntraday(own, time, interval);
}

/** The days to load for each series: the requested range, extended back as far as an earlier bar may stand in for it. */
export function windowsOf(
  { series, conversion }: PriceQuery,
  { first, last }: DayRange,
  lookBackDays: number,
): SeriesRange[] {
  const rates = new Set(conversion?.rates);
  return [...new Set(series)].map((one) => {
    const lookBack = rates.has(one) ? lookBackDays + RATE_DAYS_MAX : lookBackDays;
    return { series: one, first: first - lookBack, last };
  });
}
