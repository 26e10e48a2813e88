import type { Gate } from '../gate/gate.ts';
import type { Meter } from '../gate/meter/meter.ts';
import type { RateWindow } from '../gate/rate-window.ts';
import type { KeyUses } from '../gate/statistics/key-uses.ts';
import type { Fault } from '../http/message/fault.ts';
import type { IncomingRequest } from '../http/message/incoming-request.ts';
import { type RawReply, type Reply, reply } from '../http/message/reply.ts';
import { type CachedFields, HeaderCache } from '../http/parse/header-cache.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { BoundedCache } from '../runtime/bounded-cache.ts';
import type { Clock } from '../runtime/clock.ts';
import type { AccessLog } from '../runtime/log/access-log.ts';
import { type Log, messageOf } from '../runtime/log/log.ts';
import { AdminGuard } from './access/admin-guard.ts';
import { KEY_HEADER, OTHER_KEY_HEADERS } from './access/api-key.ts';
import { ClientAddress } from './access/client-address.ts';
import { AnswerCache, type KnownUrl } from './cache/answer-cache.ts';
import type { TableCache } from './download/cached-text.ts';
import type { ConfirmedWrites } from './ledger-reads/confirmed-writes.ts';
import type { ReaderPool } from './ledger-reads/reader-pool.ts';
import { MarketViews } from './market/market-views.ts';
import type { Visits } from './market/visits.ts';
import type { Phase } from './model/health.ts';
import type { MaybeAsync } from './model/maybe-async.ts';
import type { ParquetFiles } from './parquet/parquet-files.ts';
import { CostReport } from './pipeline/dry-run/cost-report.ts';
import { IdempotentAnswers, type KeptAnswer } from './pipeline/idempotency/idempotent-answers.ts';
import { LargeResponses } from './pipeline/large/large-responses.ts';
import { ParquetDelivery } from './pipeline/parquet/parquet-delivery.ts';
import { Pipeline } from './pipeline/pipeline.ts';
import { Charge } from './pipeline/steps/charge.ts';
import { Delivery } from './pipeline/steps/deliver.ts';
import { AnswerEncoder } from './pipeline/steps/encode-answer.ts';
import { Management } from './pipeline/steps/management.ts';
import type { EntityTags } from './response/etag.ts';
import { RemainingQuota } from './response/remaining-quota.ts';
import { Responses } from './response/responses.ts';
import type { MountPoint } from './routing/mount-point.ts';
import { Router } from './routing/router.ts';
import { type RouteOptions, routesOf } from './routing/routes.ts';
import { StreamHub } from './stream/hub.ts';
import { type Gauge, Metrics } from './telemetry/metrics.ts';
import { nextRequestId, requestIdText } from './telemetry/request-id.ts';
import { RequestObserver } from './telemetry/request-observer.ts';
import type { ProcessSharing } from './telemetry/sharing.ts';
import { TrafficHistory } from './telemetry/traffic-history.ts';

export interface ApiOptions extends Omit<RouteOptions, 'traffic'> {
  ledger: Ledger;
  gate: Gate;
  meter: Meter;
  /** Counts which key was used for what. */
  keyUses: KeyUses;
  tags: EntityTags;
  visits: Visits;
  log: Log;
  /** URL prefixes under which the interface is served. */
  mounts: readonly MountPoint[];
  trustedProxies: readonly string[];
  /** Wrong keys or admin tokens an address may send per minute. */
  failedKeysPerMinute: number;
  phase(): Phase;
  /** Reads the ledger for point-in-time requests. */
  readers: ReaderPool;
  /** Writes that were acknowledged to clients. */
  confirmedWrites: ConfirmedWrites;
  /** The Parquet files that customers are reading. */
  parquetFiles: ParquetFiles;
  /** Temporary folder for tables that are being downloaded. */
  downloadsDir: string;
  gauges: readonly Gauge[];
  /** Collects what the other processes on this port measure; absent if there are none. */
  sharing?: ProcessSharing;
  /** How far this process is behind the ledger. */
  lagSeconds(): number;
  /** The access log; undefined if disabled. */
  accessLog: AccessLog | undefined;
  /** Arrival time of the bytes that are being read, in ms on the clock of `performance.now()`. */
  arrivalMs(): number;
  /** Called for every unexpected error of a request. */
  onError(error: unknown): void;
  caches: ApiCaches;
}

export interface ApiCaches {
  readonly answers: BoundedCache<string, KnownUrl>;
  readonly tables: TableCache;
  readonly headerLines: CachedFields;
  readonly idempotentAnswers: BoundedCache<string, KeptAnswer>;
  readonly failedTokens: BoundedCache<string, RateWindow>;
}

/** The API over HTTP: assembles the parts of the request pipeline. */
export class Api {
  readonly #options: ApiOptions;
  readonly #observer: RequestObserver;
  readonly #streams: StreamHub;
  readonly #pipeline: Pipeline;
  /** Sampled by the service, a few times per minute. */
  readonly traffic: TrafficHistory;
  /** All of them, to be compared with the OpenAPI document. */
  readonly routes: ReturnType<typeof routesOf>;

  constructor(options: ApiOptions) {
    this.#options = options;
    const { adminToken, caches, clock, failedKeysPerMinute, log, meter, mounts, tags } = options;
    const metrics = new Metrics(options.gauges, options.sharing?.shareMetrics);
    this.traffic = new TrafficHistory(metrics, clock, options.lagSeconds);
    const guard = new AdminGuard(adminToken, clock, failedKeysPerMinute, caches.failedTokens);
    this.routes = routesOf({ ...options, traffic: this.traffic }, metrics, guard);
    const clientAddress = new ClientAddress(options.trustedProxies);
    const remainingQuota = new RemainingQuota(meter, clock, clientAddress);
    const charge = new Charge(meter, options.keyUses, clock, remainingQuota, clientAddress);
    const responses = new Responses(remainingQuota);
    const onDownloadFailure = (error: unknown) => log.error('download failed', { message: messageOf(error) });
    const parquet = new ParquetDelivery(options.parquetFiles, charge, remainingQuota, onDownloadFailure);
    this.#observer = new RequestObserver(metrics, log, options.accessLog);
    this.#streams = new StreamHub(options);
    this.#pipeline = new Pipeline({
      ...options,
      answerCache: new AnswerCache(caches.answers),
      tableCache: caches.tables,
      charge,
      clientAddress,
      costReport: new CostReport(charge, responses),
      delivery: new Delivery(charge, remainingQuota, parquet, new LargeResponses(clientAddress, 1)),
      parquet,
      encoder: new AnswerEncoder(tags, onDownloadFailure),
      marketViews: new MarketViews(options.board, tags),
      idempotentAnswers: new IdempotentAnswers(caches.idempotentAnswers, clock),
      management: new Management(options, guard),
      observer: this.#observer,
      remainingQuota,
      responses,
      router: new Router(mounts, this.routes),
      streams: this.#streams,
    });
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  /** Parses request heads, with the shared cache of header lines. */
  headers(): HeaderCache {
    return new HeaderCache(KEY_HEADER, this.#options.caches.headerLines, OTHER_KEY_HEADERS);
  }

  arrivalMs(): number {
    return this.#options.arrivalMs();
  }

  /** Ends the streams, so that the process can stop. */
  drain(): void {
    this.#streams.drain();
  }

  handle(request: IncomingRequest, peer: () => string): MaybeAsync<RawReply | Reply> {
    return this.#pipeline.handle(request, peer);
  }

  /** Logs why a connection was closed without a response: a bug, or a response that failed while it was sent. */
  connectionFailed(error: unknown): void {
    this.#options.log.warn('connection failed', { message: messageOf(error) });
  }

  /** Responds with a bare status to bytes that are not a valid request, or that made `handle` itself fail. */
  refuse({ status, reason }: Fault): Reply {
    const requestId = requestIdText(nextRequestId());
    if (status === 500) this.#options.log.error('request failed', { requestId, message: reason });
    else this.#options.log.debug('request not read', { requestId, status, reason });
    const timer = this.#observer.counter('other', status);
    return { ...reply(null, { 'X-Request-Id': requestId }, status), timer };
  }
}
