import type { Board } from '../board/board.ts';
import type { Clock } from '../clock.ts';
import type { Customer } from '../gate/directory.ts';
import type { CountedEndpoint } from '../gate/endpoints.ts';
import type { Gate } from '../gate/gate.ts';
import type { Meter } from '../gate/meter.ts';
import { isOutage } from '../ledger/outage.ts';
import { type Log, messageOf } from '../log.ts';
import { Allowance } from './allowance.ts';
import { ClientAddress } from './client-address.ts';
import type { Endpoint } from './endpoint.ts';
import { fluctuation } from './endpoints/fluctuation.ts';
import { historical } from './endpoints/historical.ts';
import { latest } from './endpoints/latest.ts';
import { symbols } from './endpoints/symbols.ts';
import { timeSeries } from './endpoints/time-series.ts';
import { Refusal, refuse } from './errors.ts';
import { etagOf, etagSeed, matches } from './etag.ts';
import { ALLOWED_METHODS, PREFLIGHT_HEADERS } from './headers.ts';
import { type Gauge, Metrics } from './metrics.ts';
import { type Health, healthResponse, metricsResponse } from './operations.ts';
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
  health(): Health;
  gauges: readonly Gauge[];
}

/** The usage query is the one keyed endpoint that serves no prices. */
const USAGE = 'usage';
type Route = Endpoint | typeof USAGE;

const ENDPOINTS: readonly Endpoint[] = [symbols, latest, historical, timeSeries, fluctuation];

/** At the root alone. */
const OPERATIONS: ReadonlySet<string> = new Set(['/health', '/metrics']);

/** The longest path and query that are read, in characters. */
const URL_LENGTH_MAX = 8_192;

/** A database that restarts is back within seconds. */
const OUTAGE_RETRY_SECONDS = 5;

/** One request on its way, with what is known of it so far. */
interface Exchange extends Addressee {
  target: Target;
  route: Route | undefined;
  peer(): string;
}

/** The interface over HTTP. Every request goes through `#answer`, from top to bottom. */
export class Api {
  readonly #options: ApiOptions;
  readonly #router: Router<Route>;
  readonly #allowance: Allowance;
  readonly #responses: Responses;
  readonly #clientAddress: ClientAddress;
  readonly #metrics: Metrics;
  readonly #idPrefix = crypto.randomUUID().slice(0, 8);
  #requests = 0;

  constructor(options: ApiOptions) {
    this.#options = options;
    this.#clientAddress = new ClientAddress(options.trustedProxies);
    this.#metrics = new Metrics(options.gauges);
    this.#allowance = new Allowance(options.meter);
    this.#responses = new Responses(this.#allowance);
    const routes: Record<string, Route> = { '/usage': USAGE };
    for (const endpoint of ENDPOINTS) routes[endpoint.path] = endpoint;
    this.#router = new Router(options.mounts, routes);
  }

  async handle(request: Request, peer: () => string): Promise<Response> {
    const started = performance.now();
    const target = readTarget(request.url);
    const requestId = `${this.#idPrefix}-${(++this.#requests).toString(36)}`;
    const route = this.#router.find(target.path);
    const exchange: Exchange = { request, target, requestId, route, peer, customer: undefined };
    let response: Response;
    try {
      response = await this.#answer(exchange);
    } catch (error) {
      const refusal = error instanceof Refusal ? error : this.#failure(exchange, error);
      response = this.#responses.refusal(exchange, refusal, route === USAGE);
    }
    if (this.#options.health().phase === 'draining') response.headers.set('Connection', 'close');
    this.#observe(exchange, response.status, performance.now() - started);
    return response;
  }

  /**
   * The order of checks is the contract's: path, method, key, account, burst limit, parameters, symbols, data, quota.
   * The answer is ready before it is counted, so an error or a 304 never costs a unit and nothing is refunded.
   */
  async #answer(exchange: Exchange): Promise<Response> {
    const { request, target, route } = exchange;
    const { board, clock, health } = this.#options;
    if (target.length > URL_LENGTH_MAX)
      throw refuse('uri_too_long', { length: target.length, max: URL_LENGTH_MAX });
    if (!route && !OPERATIONS.has(target.path)) {
      throw refuse('not_found', { path: target.path.slice(0, 100), hint: this.#router.hint(target.path) });
    }
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: PREFLIGHT_HEADERS });
    requireReading(request);
    if (!route) return this.#operations(exchange);
    if (health().phase === 'starting') throw refuse('unavailable', { why: 'it is starting' }, 1);

    const query = readQuery(target.query);
    const customer = await this.#admit(exchange, query);
    if (route === USAGE) return this.#usage(exchange, customer);

    const context = { query, plan: customer.plan, board, now: clock.now() };
    const question = route.read(context);
    const view = board.view(customer.plan.delaySeconds * 1000);
    // What was loaded can be let go of again while others were waited for: so until all is there.
    for (;;) {
      const loading = board.prepare(question.series, route.needs, context.now);
      if (!loading) break;
      await loading;
    }
    const answer = route.answer(question, view, context);

    const etag = etagOf(answer.content, etagSeed(board.epoch, view.delayMs), answer.prefix !== '');
    const ifNoneMatch = request.headers.get('if-none-match');
    if (ifNoneMatch !== null && matches(ifNoneMatch, etag))
      return this.#responses.notModified(exchange, answer, etag);
    if (request.method !== 'HEAD') await this.#count(customer, route.name);
    return this.#responses.success(exchange, answer, etag);
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
      if (this.#allowance.known(admission.customer) === undefined)
        await this.#allowance.learn(admission.customer);
    }
    if (admission.ok) return admission.customer;
    switch (admission.code) {
      case 'failed_keys':
        throw refuse('rate_limited', { limit: 'too many wrong keys came from your address' }, 60);
      case 'key_not_allowed':
        throw refuse('key_not_allowed', { why: admission.why });
      case 'rate_limited': {
        const { name, burstPerSecond } = admission.customer.plan;
        throw refuse('rate_limited', { limit: `the plan "${name}" allows ${burstPerSecond} a second` }, 1);
      }
      default:
        throw refuse(admission.code, {});
    }
  }

  /** Takes one unit of the quota, or refuses. */
  async #count({ account, plan }: Customer, endpoint: CountedEndpoint): Promise<void> {
    const spending = this.#options.meter.spend(account, endpoint);
    const spend = spending instanceof Promise ? await spending : spending;
    if (spend.ok) return;
    if (spend.reason === 'unavailable') {
      throw refuse('unavailable', { why: 'the quota cannot be checked' }, spend.retryAfterSeconds);
    }
    const resetAt = new Date(this.#allowance.resetAt).toISOString();
    throw refuse(
      'quota_exhausted',
      { quota: plan.quota, plan: plan.name, resetAt },
      this.#allowance.secondsToReset,
    );
  }

  async #usage(exchange: Exchange, customer: Customer): Promise<Response> {
    const { used } = await this.#options.meter.usage(customer.account.id);
    return this.#responses.usage(exchange, customer, used);
  }

  /** A ledger that is away comes back. What nobody expected is logged in full and told as nothing but its id. */
  #failure({ requestId, route }: Exchange, error: unknown): Refusal {
    if (isOutage(error)) {
      this.#options.log.warn('ledger unreachable', { requestId, message: messageOf(error) });
      return refuse('unavailable', { why: 'its ledger cannot be reached' }, OUTAGE_RETRY_SECONDS);
    }
    const stack = error instanceof Error ? error.stack : undefined;
    this.#options.log.error('request failed', {
      requestId,
      endpoint: nameOf(route),
      message: messageOf(error),
      stack,
    });
    return refuse('internal', { requestId });
  }

  #observe({ request, requestId, route }: Exchange, status: number, ms: number): void {
    const endpoint = nameOf(route);
    this.#metrics.count(endpoint, status, ms / 1000);
    const { log } = this.#options;
    if (log.debugs) log.debug('request', { requestId, method: request.method, endpoint, status, ms });
  }
}

function requireReading({ method }: Request): void {
  if (method === 'GET' || method === 'HEAD') return;
  throw refuse('method_not_allowed', { method, allowed: ALLOWED_METHODS });
}

function nameOf(route: Route | undefined): string {
  if (route === undefined) return 'other';
  return route === USAGE ? USAGE : route.name;
}
