import type { z } from 'zod';
import type { Board } from '../../board/board.ts';
import type { PastVersions } from '../../board/past/versions.ts';
import type { RequiredData } from '../../board/series/load/load-level.ts';
import type { Series } from '../../board/series/series.ts';
import type { SymbolSeries } from '../../board/series/symbol-series.ts';
import type { Prices } from '../../board/views/prices.ts';
import type { Customer, KnownKey } from '../../gate/directory/customer.ts';
import type { CountedEndpoint } from '../../gate/endpoints.ts';
import type { Meter } from '../../gate/meter/meter.ts';
import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import type { Reply } from '../../http/message/reply.ts';
import type { Plan } from '../../ledger/accounts/plans.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { DayRange } from '../../ledger/prices/past.ts';
import type { Day } from '../../market/day.ts';
import type { IntradayInterval, TimeRange } from '../../market/intraday/interval.ts';
import type { Dialect } from '../versions/dialects.ts';
import type { Answer, JsonText, LargeAnswer } from './answer.ts';
import type { UnsentBody } from './byte-writer.ts';
import type { MaybeAsync } from './maybe-async.ts';
import type { PriceQuery, RequestedSymbol } from './price-query.ts';
import type { QueryParams } from './query.ts';
import type { Format } from './table.ts';

/** The context of a price endpoint. */
export interface EndpointContext {
  query: QueryParams;
  plan: Plan;
  board: Board;
  now: number;
  format: Format;
  /** The version of the interface that the client was written for. */
  dialect: Dialect;
  /** Set if the answer is read from the ledger. */
  past?: LedgerReads;
}

/** What an endpoint can read from the ledger. It then runs in a reader thread. */
export interface LedgerReads {
  /** Loads the bars of these days, and the exchange rates that convert them. */
  load(days: DayRange): Promise<void>;
  /** The revisions of bars that the plan can see, to be read page by page. */
  versions(): Promise<PastVersions>;
  /**
   * Loads the intraday bars of `time`, of all series or of those given, and drops those loaded before. `time` must consist of
   * whole intervals.
   */
  loadIntraday(time: TimeRange, interval: IntradayInterval, series?: readonly SymbolSeries[]): Promise<void>;
  /**
   * Before this time, and from `from` on, none of these series has an intraday bar. Undefined if none has a later one. A bar
   * at this time may be hidden.
   */
  nextIntraday(
    from: number,
    interval: IntradayInterval,
    series?: readonly SymbolSeries[],
  ): Promise<number | undefined>;
  /** The first trade date with intraday bars of each of these series that has any. */
  firstIntradayDays(
    interval: IntradayInterval,
    series: readonly SymbolSeries[],
  ): Promise<ReadonlyMap<Series, Day>>;
}

/** The days that a point-in-time answer needs. */
export interface RequiredDays {
  ranges: readonly DayRange[];
  /** How many days before a range the last bar may be that is used for its first day. */
  lookBackDays: number;
}

/**
 * An endpoint that serves prices and costs a unit. `read` turns a request into a query, or throws a Refusal if the request
 * is invalid. The pipeline then loads the `series` of the query, and `answer` answers it.
 */
export interface PriceEndpoint<Q extends PriceQuery = PriceQuery, L extends LargeAnswer = LargeAnswer> {
  readonly kind: 'prices';
  /** The name under which its units are counted. */
  readonly name: CountedEndpoint;
  readonly path: string;
  /** How much of a series must be in memory. */
  readonly requiredData: RequiredData;
  /** Whether every answer is read from the ledger, not only those with `asOf`. */
  readonly readsLedger?: true;
  read(context: EndpointContext): Q;
  /** What is loaded before `answer` is called for a point-in-time request. Without it, `answer` loads what it needs. */
  reads?(priceQuery: Q): RequiredDays;
  answer(priceQuery: Q, prices: Prices, context: EndpointContext): Answer | Promise<Answer>;
  /** Plans a large answer, from prices in memory; undefined if the answer is not large. */
  large?(priceQuery: Q, prices: Prices, context: EndpointContext): MaybeAsync<L> | undefined;
  /** Builds a large answer from a snapshot of the prices, yielding to other requests. */
  build?(priceQuery: Q, large: L, context: EndpointContext): Promise<JsonText | UnsentBody>;
}

/** An endpoint about the customer's account. It is free, and its errors are in the field `error`. */
export interface AccountEndpoint {
  readonly kind: 'account';
  readonly name: string;
  readonly path: string;
  answer(customer: Customer, meter: Meter, query: QueryParams): Promise<Readonly<Record<string, unknown>>>;
}

/** An endpoint that streams prices. A connection costs a unit, which pays for 100 events, and one per further 100 events. */
export interface StreamEndpoint {
  readonly kind: 'stream';
  readonly name: CountedEndpoint;
  readonly path: string;
  readonly requiredData: RequiredData;
  read(context: EndpointContext): { symbols: readonly RequestedSymbol[]; series: readonly SymbolSeries[] };
}

/** The market view, which all customers with the same delay share. */
export interface MarketEndpoint {
  readonly kind: 'market';
  readonly name: CountedEndpoint;
  readonly path: string;
  /** The view costs a unit; its quotes are free to those who have paid for it. */
  readonly part: 'full' | 'quotes';
}

/** The Model Context Protocol, for agents. The requests that it makes for them are counted as any others. */
export interface McpEndpoint {
  readonly kind: 'mcp';
  readonly name: string;
  readonly path: string;
}

/** The input of a management action, for owners and operators. */
export interface ManagementRequest {
  /** The value of `:id` in the path. */
  id: string;
  query: QueryParams;
  ledger: Ledger;
  meter: Meter;
  now: number;
  dialect: Dialect;
  request: IncomingRequest;
  /** Reads the body; one that is too long or does not match the schema is refused, with all reasons. */
  body<T>(schema: z.ZodType<T>, charactersMax?: number): Promise<T>;
}

/** Management by the owner of a key. */
export interface OwnerRequest extends ManagementRequest {
  customer: Customer;
  key: KnownKey;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type Action<C extends ManagementRequest> = (call: C) => Promise<Readonly<Record<string, unknown>>>;
export type Actions<C extends ManagementRequest> = Partial<Readonly<Record<Method, Action<C>>>>;

/** What a customer may see and change of its own account, with its key. It is free. */
export interface OwnerEndpoint {
  readonly kind: 'owner';
  readonly name: string;
  /** With `:id` for a variable part. */
  readonly path: string;
  readonly actions: Actions<OwnerRequest>;
}

/** What the operator may see and change, with the admin token. Only at the root, and only if a token is set. */
export interface AdminEndpoint {
  readonly kind: 'admin';
  readonly name: string;
  readonly path: string;
  readonly actions: Actions<ManagementRequest>;
}

/** The context of an open endpoint. */
export interface OpenRequest {
  request: IncomingRequest;
  /** The value of `:id` in the path. */
  id: string;
  /** The other end of the connection, which may be a proxy. */
  peer: string;
  /** The client's address, taken from trusted proxies if there are any. */
  address(): string;
}

/** What anybody may read: health, the page and its documents. Only at the root. */
export interface OpenEndpoint {
  readonly kind: 'open';
  readonly name: string;
  readonly path: string;
  answer(request: OpenRequest): Reply | Promise<Reply>;
}

export type Endpoint =
  | PriceEndpoint
  | AccountEndpoint
  | StreamEndpoint
  | MarketEndpoint
  | McpEndpoint
  | OwnerEndpoint
  | AdminEndpoint
  | OpenEndpoint;

/** Hides an endpoint's own types: the pipeline passes the result of `read` to `answer`, and that of `large` to `build`. */
export function priceEndpoint<Q extends PriceQuery, L extends LargeAnswer>(
  definition: Omit<PriceEndpoint<Q, L>, 'kind'>,
): PriceEndpoint {
  return { kind: 'prices', ...definition } as unknown as PriceEndpoint;
}
