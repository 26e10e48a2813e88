import type { Board } from '../board/board.ts';
import type { KnownKey } from '../gate/directory.ts';
import type { Gate } from '../gate/gate.ts';
import type { Meter } from '../gate/meter/meter.ts';
import type { RateWindow } from '../gate/rate-window.ts';
import type { Fault } from '../http/message/fault.ts';
import { BodyFault } from '../http/message/fault.ts';
import type { IncomingRequest } from '../http/message/incoming-request.ts';
import { type RawReply, type Reply, reply } from '../http/message/reply.ts';
import { type CachedFields, type CachedHeads, HeadCache } from '../http/parse/head-cache.ts';
import { outageReason } from '../ledger/engine/errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ReportedAlarm } from '../ledger/operations/replicas.ts';
import type { TakePush } from '../ledger/prices/pushes.ts';
import type { BoundedCache } from '../runtime/bounded-cache.ts';
import type { Clock } from '../runtime/clock.ts';
import type { AccessLog } from '../runtime/log/access-log.ts';
import { type Log, messageOf } from '../runtime/log/log.ts';
import { AdminGuard } from './access/admin-guard.ts';
import { AnswerCache, type KnownUrl } from './cache/answer-cache.ts';
import { Refusal, refuse } from './errors/errors.ts';
import { bodyRefusal } from './errors/from-gate.ts';
import type { ConfirmedWrites } from './ledger-reads/confirmed-writes.ts';
import type { ReaderPool } from './ledger-reads/reader-pool.ts';
import type { Endpoint } from './model/endpoint.ts';
import type { FeedAdminPort, ListFeedStatus } from './model/feed-status.ts';
import type { Health, Phase } from './model/health.ts';
import { type MaybeAsync, maybeAsync } from './model/maybe-async.ts';
import { readQuery, readTarget, URL_LENGTH_MAX } from './model/query.ts';
import type { RequestContext } from './model/request-context.ts';
import { Reception } from './pipeline/authenticate.ts';
import { Answering } from './pipeline/build-answer.ts';
import { Serving } from './pipeline/dispatch.ts';
import { Management } from './pipeline/management.ts';
import type { EntityTags } from './response/etag.ts';
import { formatAccepted } from './response/format.ts';
import { optionsHeaders, SERVER_OPTIONS } from './response/headers.ts';
import { RateLimitHeader } from './response/rate-limit-header.ts';
import { Responses } from './response/responses.ts';
import { Router } from './routing/router.ts';
import { requireMethod, routesOf } from './routing/routes.ts';
import type { PageKeys } from './site/page-key.ts';
import { StreamHub } from './stream/hub.ts';
import type { IngestMetrics } from './telemetry/ingest-metrics.ts';
import { type Gauge, Metrics, type ShareMetrics } from './telemetry/metrics.ts';
import { givenRequestId, nextRequestNumber, requestIdText, traceIdOf } from './telemetry/request-id.ts';
import { RequestObserver } from './telemetry/request-observer.ts';

export interface ApiOptions {
  ledger: Ledger;
  board: Board;
  gate: Gate;
  meter: Meter;
  clock: Clock;
  tags: EntityTags;
  log: Log;
  mounts: readonly string[];
  trustedProxies: readonly string[];
  adminToken: string | undefined;
  failedKeysPerMinute: number;
  /** The keys that the page is given by itself. */
  pageKeys: PageKeys;
  /** Whether prices are simulated. */
  simulated: boolean;
  /** Names this process among the replicas. */
  replica: string;
  version: string;
  phase(): Phase;
  health(): Health;
  /** The alarms that are on in this process. */
  alarms(): readonly ReportedAlarm[];
  feeds: ListFeedStatus;
  feedAdmin: FeedAdminPort;
  push: TakePush;
  ingestMetrics: IngestMetrics;
  /** Reads the ledger for point-in-time requests. */
  readers: ReaderPool;
  /** The writes that clients were told of. */
  confirmedWrites: ConfirmedWrites;
  /** The folder for tables on their way. */
  downloadsDir: string;
  gauges: readonly Gauge[];
  /** How a scrape gets the metrics of the other processes on this port, where there are any. */
  shareMetrics?: ShareMetrics;
  /** Where requests are logged, if the operator wants that. */
  accessLog: AccessLog | undefined;
  /** When bytes that are read now arrived, in ms of `performance.now()`. */
  arrivalMs(): number;
  /** Called with every error that a request met and nobody expected. */
  onError(error: unknown): void;
  caches: ApiCaches;
}

export interface ApiCaches {
  readonly answers: BoundedCache<string, KnownUrl>;
  readonly heads: CachedHeads;
  readonly headerLines: CachedFields;
  readonly failedTokens: BoundedCache<string, RateWindow>;
}

/** A database that restarts is back within seconds. */
const OUTAGE_RETRY_SECONDS = 5;

/**
 * The interface over HTTP. Every request goes through `#answer`, from top to bottom; one whose answer is still good from
 * the last time takes the short way through `#again`.
 */
export class Api {
  readonly #options: ApiOptions;
  readonly #router: Router<Endpoint>;
  readonly #allowance: RateLimitHeader;
  readonly #responses: Responses;
  readonly #reception: Reception;
  readonly #observer: RequestObserver;
  readonly #management: Management;
  readonly #streams: StreamHub;
  readonly #kept: AnswerCache;
  readonly #serving: Serving;

  constructor(options: ApiOptions) {
    this.#options = options;
    this.#kept = new AnswerCache(options.caches.answers);
    const metrics = new Metrics(options.gauges, options.shareMetrics);
    this.#observer = new RequestObserver(metrics, options.log, options.accessLog);
    this.#allowance = new RateLimitHeader(options.meter, options.clock);
    this.#responses = new Responses(this.#allowance);
    this.#reception = new Reception(options, this.#allowance);
    const guard = new AdminGuard(
      options.adminToken,
      options.clock,
      options.failedKeysPerMinute,
      options.caches.failedTokens,
    );
    this.#management = new Management(options, guard);
    this.#streams = new StreamHub(options);
    this.#serving = new Serving({
      ...options,
      allowance: this.#allowance,
      answering: new Answering({ ...options, kept: this.#kept }),
      management: this.#management,
      reception: this.#reception,
      responses: this.#responses,
      streams: this.#streams,
    });
    this.#router = new Router(options.mounts, routesOf(options, metrics, guard));
  }

  /** The one clock of all that is answered. */
  get clock(): Clock {
    return this.#options.clock;
  }

  /** Parsed requests of its clients. */
  heads(): HeadCache {
    const { heads, headerLines } = this.#options.caches;
    return new HeadCache(heads, headerLines);
  }

  arrivalMs(): number {
    return this.#options.arrivalMs();
  }

  /** Ends what would go on for ever, so that the process can stop. */
  drain(): void {
    this.#streams.drain();
  }

  handle(request: IncomingRequest, peer: () => string): MaybeAsync<RawReply | Reply> {
    const known = this.#kept.find(request.url);
    const number = nextRequestNumber();
    const again = known && this.#again(request, known, peer, number);
    if (!again || 'request' in again) return this.#handleFully(again ?? this.#receive(request, peer, number));
    if (this.#observer.logsRequests) {
      const customer = this.#knownKey(request, known!)?.customer;
      return this.#observed({ ...this.#receive(request, peer, number), customer }, again);
    }
    again.timer = this.#observer.counter(known!.endpoint.name, again.status);
    return again;
  }

  /** Logs why a connection was closed without an answer: a bug, or a response that failed while it was sent. */
  connectionFailed(error: unknown): void {
    this.#options.log.warn('connection failed', { message: messageOf(error) });
  }

  /** Answers what could not be read as a request, or made `handle` itself fail: with a bare status, and the reason in the log. */
  refuse({ status, reason }: Fault): Reply {
    const requestId = requestIdText(nextRequestNumber());
    if (status === 500) this.#options.log.error('request failed', { requestId, message: reason });
    else this.#options.log.debug('request not read', { requestId, status, reason });
    const timer = this.#observer.counter('other', status);
    return { ...reply(null, { 'X-Request-Id': requestId }, status), timer };
  }

  /**
   * The short way. Nothing is read or worked out that was read or worked out the last time:
   *
   *     URL that was asked before ─► key in memory ─► answer for its plan, still good ─► burst ─► 304, or a unit ─► sent
   *                                       │ no                 │ no                       │ no         │ not at once
   *                                       └────────────────────┴── the long way ──────────┘            └─► the long way, with
   *                                                                                                   customer, answer and unit
   */
  #again(
    request: IncomingRequest,
    url: KnownUrl,
    peer: () => string,
    number: number,
  ): RawReply | RequestContext | undefined {
    const { board, clock, gate, meter, phase } = this.#options;
    const now = clock.now();
    if (request.method !== 'GET' || phase() !== 'ready' || board.isDue(now)) return undefined;
    const { headers } = request;
    if (!url.namesFormat && formatAccepted(headers.get('accept')) !== 'json') return undefined;
    const known = this.#knownKey(request, url);
    const ready = known && url.answers.get(known.customer.plan);
    if (!ready?.isGood(now) || !gate.admitsAtOnce(known!, now)) return undefined;

    const { customer } = known!;
    const ifNoneMatch = headers.get('if-none-match');
    const unchanged = ifNoneMatch === null ? undefined : ready.unchanged(ifNoneMatch);
    const id = givenRequestId(request);
    if (unchanged) {
      const left = this.#allowance.header(customer);
      if (left === undefined) return { ...this.#receive(request, peer, number), customer, ready };
      return id === undefined ? unchanged.notModifiedAgain(number, left) : unchanged.notModified(id, left);
    }
    const spending = meter.spend(customer.account, url.endpoint.name, now);
    if (!(spending instanceof Promise) && spending.ok) {
      const left = this.#allowance.headerAfter(customer, spending.remaining, now);
      const representation = ready.representation(request);
      return id === undefined ? representation.successAgain(number, left) : representation.success(id, left);
    }
    return { ...this.#receive(request, peer, number), customer, ready, spending };
  }

  /** The key of a request whose URL was asked before, if it is in memory. */
  #knownKey(request: IncomingRequest, url: KnownUrl): KnownKey | undefined {
    const key = request.headers.get('x-api-key') ?? url.key;
    return key === undefined ? undefined : this.#options.gate.directory.cached(key);
  }

  #receive(request: IncomingRequest, peer: () => string, number: number): RequestContext {
    const requestId = givenRequestId(request) ?? requestIdText(number);
    const target = readTarget(request.url);
    const found = this.#router.find(target.path);
    return {
      request,
      requestId,
      peer,
      target,
      endpoint: found?.route,
      id: found?.id ?? '',
      customer: undefined,
      key: undefined,
      ready: undefined,
      spending: undefined,
    };
  }

  #handleFully(exchange: RequestContext): MaybeAsync<RawReply | Reply> {
    const { endpoint } = exchange;
    const give = (answer: RawReply | Reply) => this.#observed(exchange, answer);
    const refuse = (error: unknown) => {
      const refusal = error instanceof Refusal ? error : this.#failure(exchange, error);
      return give(this.#responses.refusal(exchange, refusal, endpoint));
    };
    try {
      const answer = this.#answer(exchange);
      return answer instanceof Promise ? answer.then(give, refuse) : give(answer);
    } catch (error) {
      return refuse(error);
    }
  }

  /**
   * The long way, in the order of the contract: path, method, key, account, burst limit, parameters, symbols, data, quota.
   * The answer is ready before it is counted, so an error or a 304 never costs a unit and nothing is refunded.
   */
  #answer(exchange: RequestContext): MaybeAsync<RawReply | Reply> {
    const { request, target, endpoint, id } = exchange;
    if (target.length > URL_LENGTH_MAX)
      throw refuse('uri_too_long', { length: target.length, max: URL_LENGTH_MAX });
    if (!endpoint) {
      if (target.path === '*') return reply(null, SERVER_OPTIONS, 204);
      throw refuse('not_found', { path: target.path.slice(0, 100), hint: this.#router.hint(target.path) });
    }
    if (request.method === 'OPTIONS') return reply(null, optionsHeaders(endpoint), 204);
    requireMethod(request, endpoint);
    const address = () => this.#reception.addressOf(exchange);
    if (endpoint.kind === 'open') return endpoint.answer({ request, id, peer: exchange.peer(), address });
    if (endpoint.kind === 'admin') {
      const managing = { request, id, query: target.query };
      return this.#management.admin(endpoint, managing, address).then((answer) => {
        if (request.method !== 'GET') this.#options.confirmedWrites.confirm();
        return this.#responses.admin(exchange, answer);
      });
    }
    if (this.#options.phase() === 'starting') throw refuse('unavailable', { why: 'it is starting' }, 1);
    const query = readQuery(target.query);
    const admitted = exchange.customer ?? this.#reception.admit(exchange, query);
    return maybeAsync(admitted, (customer) => this.#serving.serve(exchange, endpoint, query, customer));
  }

  /** A ledger that is away comes back. What nobody expected is logged in full and told as nothing but its id. */
  #failure({ request, requestId, endpoint }: RequestContext, error: unknown): Refusal {
    const { log } = this.#options;
    const traceId = traceIdOf(request);
    const message = messageOf(error);
    if (error instanceof BodyFault) return bodyRefusal(error.fault);
    this.#options.onError(error);
    const why = outageReason(error);
    if (why !== undefined) {
      log.warn('unavailable', { requestId, traceId, why, message });
      return refuse('unavailable', { why }, OUTAGE_RETRY_SECONDS);
    }
    const stack = error instanceof Error ? error.stack : undefined;
    log.error('request failed', {
      requestId,
      traceId,
      endpoint: endpoint?.name ?? 'other',
      message,
      stack,
    });
    return refuse('internal', { requestId });
  }

  /** Has the time of a response measured, and makes it name its request. */
  #observed(exchange: RequestContext, answer: RawReply | Reply): RawReply | Reply {
    const { request, requestId, endpoint, customer } = exchange;
    const { status } = answer;
    const name = endpoint?.name ?? 'other';
    const timer = this.#observer.logsRequests
      ? this.#observer.logged({
          request,
          requestId,
          endpoint: name,
          status,
          account: customer?.account.id,
          address: this.#reception.addressOf(exchange),
        })
      : this.#observer.counter(name, status);
    if ('bytes' in answer) {
      answer.timer = timer;
      return answer;
    }
    const headers = { ...answer.headers, 'X-Request-Id': requestId };
    return { ...answer, headers, timer, isAuthenticated: customer !== undefined };
  }
}
