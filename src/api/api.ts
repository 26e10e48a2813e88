import type { Board } from '../board/board.ts';
import type { Clock } from '../clock.ts';
import type { Customer } from '../gate/directory.ts';
import type { Admission, Gate } from '../gate/gate.ts';
import type { Meter } from '../gate/meter.ts';
import type { Spend } from '../gate/spend.ts';
import { isOutage } from '../ledger/outage.ts';
import { type Log, messageOf } from '../log.ts';
import { Allowance } from './allowance.ts';
import { Answering } from './answering.ts';
import { ClientAddress } from './client-address.ts';
import type { Endpoint, PriceEndpoint } from './endpoint.ts';
import { fluctuation } from './endpoints/fluctuation.ts';
import { historical } from './endpoints/historical.ts';
import { history } from './endpoints/history.ts';
import { latest } from './endpoints/latest.ts';
import { revisions } from './endpoints/revisions.ts';
import { symbols } from './endpoints/symbols.ts';
import { timeSeries } from './endpoints/time-series.ts';
import { usage } from './endpoints/usage.ts';
import { Refusal, refuse } from './errors.ts';
import { matches } from './etag.ts';
import { formatAccepted } from './format.ts';
import { ALLOWED_METHODS, PREFLIGHT_HEADERS } from './headers.ts';
import { KeptAnswers, type KnownUrl } from './kept-answers.ts';
import { type Gauge, Metrics } from './metrics.ts';
import { type Health, healthResponse, metricsResponse, type Phase } from './operations.ts';
import { single } from './parameters.ts';
import { type Query, readQuery, readTarget, type Target } from './query.ts';
import { type Addressee, Responses } from './responses.ts';
import { Router } from './router.ts';

export interface ApiOptions {
  board: Board;
  gate: Gate;
  meter: Meter;
  clock: Clock;
  log: Log;
  mounts: readonly string[];
  trustedProxies: readonly string[];
  adminToken: string | undefined;
  version: string;
  phase(): Phase;
  health(): Health;
  gauges: readonly Gauge[];
}

const ENDPOINTS: readonly Endpoint[] = [
  symbols,
  latest,
  historical,
  timeSeries,
  fluctuation,
  revisions,
  history,
  usage,
];

/** At the root alone. */
const OPERATIONS: ReadonlySet<string> = new Set(['/health', '/metrics']);

/** The longest path and query that are read, in characters. */
const URL_LENGTH_MAX = 8_192;

/** A database that restarts is back within seconds. */
const OUTAGE_RETRY_SECONDS = 5;

/** One request on its way, with what is known of it so far. */
interface Exchange extends Addressee {
  target: Target;
  endpoint: Endpoint | undefined;
  peer(): string;
  /** The unit that is being taken for it. */
  spending: Spend | Promise<Spend> | undefined;
}

/**
 * The interface over HTTP. Every request goes through `#answer`, from top to bottom; one whose answer is still good from
 * the last time takes the short way through `#again`.
 */
export class Api {
  readonly #options: ApiOptions;
  readonly #router: Router<Endpoint>;
  readonly #allowance: Allowance;
  readonly #responses: Responses;
  readonly #clientAddress: ClientAddress;
  readonly #metrics: Metrics;
  readonly #kept = new KeptAnswers();
  readonly #answering: Answering;
  readonly #idPrefix = crypto.randomUUID().slice(0, 8);
  #requests = 0;

  constructor(options: ApiOptions) {
    this.#options = options;
    this.#clientAddress = new ClientAddress(options.trustedProxies);
    this.#metrics = new Metrics(options.gauges);
    this.#allowance = new Allowance(options.meter, options.clock);
    this.#responses = new Responses(this.#allowance);
    this.#answering = new Answering(options.board, options.clock, this.#kept);
    this.#router = new Router(
      options.mounts,
      Object.fromEntries(ENDPOINTS.map((endpoint) => [endpoint.path, endpoint])),
    );
  }

  handle(request: Request, peer: () => string): Response | Promise<Response> {
    const started = performance.now();
    const requestId = `${this.#idPrefix}-${(++this.#requests).toString(36)}`;
    const known = this.#kept.find(request.url);
    const again = known && this.#again(request, known, requestId, peer);
    if (!(again instanceof Response))
      return this.#handleFully(again ?? this.#receive(request, requestId, peer), started);
    this.#observe(known!.endpoint, request, requestId, again.status, started);
    return again;
  }

  /**
   * The short way. Nothing is read or worked out that was read or worked out the last time:
   *
   *     URL that was asked before ─► key in memory ─► answer for its plan, still good ─► burst ─► 304, or a unit ─► sent
   *                                       │ no                 │ no                       │ no         │ not at once
   *                                       └────────────────────┴── the long way ──────────┘            └─► the long way, with
   *                                                                                                   customer and unit
   */
  #again(
    request: Request,
    url: KnownUrl,
    requestId: string,
    peer: () => string,
  ): Response | Exchange | undefined {
    const { board, clock, gate, meter, phase } = this.#options;
    const now = clock.now();
    if (request.method !== 'GET' || phase() !== 'ready' || board.isDue(now)) return undefined;
    const { headers } = request;
    if (!url.namesFormat && formatAccepted(headers.get('accept')) !== 'json') return undefined;
    const key = headers.get('x-api-key') ?? url.key;
    const known = key === undefined ? undefined : gate.directory.cached(key);
    const ready = known && url.answers.get(known.customer.plan);
    if (!ready?.isGood(now) || !gate.admitsAtOnce(known!, now)) return undefined;

    const { customer } = known!;
    const representation = ready.representation(request);
    const ifNoneMatch = headers.get('if-none-match');
    if (ifNoneMatch !== null && matches(ifNoneMatch, representation.etag)) {
      return this.#responses.notModified(representation, requestId, customer);
    }
    const spending = meter.spend(customer.account, url.endpoint.name);
    if (!(spending instanceof Promise) && spending.ok)
      return this.#responses.success(representation, requestId, customer);
    return { ...this.#receive(request, requestId, peer), customer, spending };
  }

  #receive(request: Request, requestId: string, peer: () => string): Exchange {
    const target = readTarget(request.url);
    const endpoint = this.#router.find(target.path);
    return { request, requestId, peer, target, endpoint, customer: undefined, spending: undefined };
  }

  async #handleFully(exchange: Exchange, started: number): Promise<Response> {
    const { request, requestId, endpoint } = exchange;
    let response: Response;
    try {
      response = await this.#answer(exchange);
    } catch (error) {
      const refusal = error instanceof Refusal ? error : this.#failure(exchange, error);
      response = this.#responses.refusal(exchange, refusal, endpoint?.kind === 'account');
    }
    if (this.#options.phase() === 'draining') response.headers.set('Connection', 'close');
    this.#observe(endpoint, request, requestId, response.status, started);
    return response;
  }

  /**
   * The long way, in the order of the contract: path, method, key, account, burst limit, parameters, symbols, data, quota.
   * The answer is ready before it is counted, so an error or a 304 never costs a unit and nothing is refunded.
   */
  async #answer(exchange: Exchange): Promise<Response> {
    const { request, requestId, target, endpoint } = exchange;
    const { meter, phase } = this.#options;
    if (target.length > URL_LENGTH_MAX)
      throw refuse('uri_too_long', { length: target.length, max: URL_LENGTH_MAX });
    if (!endpoint && !OPERATIONS.has(target.path)) {
      throw refuse('not_found', { path: target.path.slice(0, 100), hint: this.#router.hint(target.path) });
    }
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: PREFLIGHT_HEADERS });
    requireReading(request);
    if (!endpoint) return this.#operations(exchange);
    if (phase() === 'starting') throw refuse('unavailable', { why: 'it is starting' }, 1);

    const query = readQuery(target.query);
    const customer = exchange.customer ?? (await this.#admit(exchange, query));
    if (endpoint.kind === 'account') {
      return this.#responses.account(exchange, await endpoint.answer(customer, meter, query));
    }
    const ready = await this.#answering.prepare(request, endpoint, query, customer.plan);
    const representation = ready.representation(request);
    const ifNoneMatch = request.headers.get('if-none-match');
    if (ifNoneMatch !== null && matches(ifNoneMatch, representation.etag)) {
      return this.#responses.notModified(representation, requestId, customer);
    }
    if (request.method !== 'HEAD') await this.#count(exchange, customer, endpoint);
    return this.#responses.success(representation, requestId, customer);
  }

  /** What is not part of the interface. */
  #operations({ request, target, peer }: Exchange): Response {
    const { adminToken, clock, health, version } = this.#options;
    if (target.path === '/health') return healthResponse(health(), version, clock.now());
    return metricsResponse(request, peer(), adminToken, this.#metrics);
  }

  /** Finds out who asks. The header wins over the parameter. */
  async #admit(exchange: Exchange, query: Query): Promise<Customer> {
    const { headers } = exchange.request;
    const inHeader = headers.get('x-api-key')?.trim();
    const key = inHeader || single(query, 'apiKey')?.trim();
    if (!key) throw refuse('missing_key', {});
    const address = () => this.#clientAddress.of(exchange.peer(), headers.get('x-forwarded-for'));
    const admitting = this.#options.gate.admit({ key, inUrl: !inHeader, address });
    const admission = admitting instanceof Promise ? await admitting : admitting;
    if ('customer' in admission) {
      exchange.customer = admission.customer;
      await this.#allowance.learn(admission.customer);
    }
    if (admission.ok) return admission.customer;
    throw refusalOf(admission);
  }

  /** Takes one unit of the quota, or refuses. */
  async #count(exchange: Exchange, { account, plan }: Customer, { name }: PriceEndpoint): Promise<void> {
    const spending = exchange.spending ?? this.#options.meter.spend(account, name);
    const spend = spending instanceof Promise ? await spending : spending;
    if (spend.ok) return;
    if (spend.reason === 'unavailable') {
      throw refuse('unavailable', { why: 'the quota cannot be checked' }, spend.retryAfterSeconds);
    }
    const { resetAt, secondsToReset } = this.#allowance;
    const details = { quota: plan.quota, plan: plan.name, resetAt: new Date(resetAt).toISOString() };
    throw refuse('quota_exhausted', details, secondsToReset);
  }

  /** A ledger that is away comes back. What nobody expected is logged in full and told as nothing but its id. */
  #failure({ requestId, endpoint }: Exchange, error: unknown): Refusal {
    const { log } = this.#options;
    const message = messageOf(error);
    if (isOutage(error)) {
      log.warn('ledger unreachable', { requestId, message });
      return refuse('unavailable', { why: 'its ledger cannot be reached' }, OUTAGE_RETRY_SECONDS);
    }
    const stack = error instanceof Error ? error.stack : undefined;
    log.error('request failed', { requestId, endpoint: endpoint?.name ?? 'other', message, stack });
    return refuse('internal', { requestId });
  }

  #observe(
    endpoint: Endpoint | undefined,
    request: Request,
    requestId: string,
    status: number,
    started: number,
  ): void {
    const name = endpoint?.name ?? 'other';
    const ms = performance.now() - started;
    this.#metrics.counter(name, status).add(ms);
    const { log } = this.#options;
    if (log.debugs) log.debug('request', { requestId, method: request.method, endpoint: name, status, ms });
  }
}

function requireReading({ method }: Request): void {
  if (method === 'GET' || method === 'HEAD') return;
  throw refuse('method_not_allowed', { method, allowed: ALLOWED_METHODS });
}

function refusalOf(admission: Admission & { ok: false }): Refusal {
  switch (admission.code) {
    case 'failed_keys':
      return refuse('rate_limited', { limit: 'too many wrong keys came from your address' }, 60);
    case 'key_not_allowed':
      return refuse('key_not_allowed', { why: admission.why });
    case 'rate_limited': {
      const { name, burstPerSecond } = admission.customer.plan;
      return refuse('rate_limited', { limit: `the plan "${name}" allows ${burstPerSecond} a second` }, 1);
    }
    default:
      return refuse(admission.code, {});
  }
}
