import type { Board } from '../board/board.ts';
import type { Clock } from '../clock.ts';
import type { Customer } from '../gate/directory.ts';
import type { Gate } from '../gate/gate.ts';
import type { Tally } from '../gate/tally.ts';
import { type Log, messageOf } from '../log.ts';
import { ClientAddress } from './client-address.ts';
import { acceptsGzip, COMPRESS_FROM_BYTES } from './encoding.ts';
import type { Answer, Endpoint } from './endpoint.ts';
import { fluctuation } from './endpoints/fluctuation.ts';
import { historical } from './endpoints/historical.ts';
import { latest } from './endpoints/latest.ts';
import { symbols } from './endpoints/symbols.ts';
import { timeSeries } from './endpoints/time-series.ts';
import { Refusal, refuse } from './errors.ts';
import { etagOf, etagOfEncoding, etagSeed, matches } from './etag.ts';
import {
  ALLOWED_METHODS,
  COMMON_HEADERS,
  JSON_TYPE,
  PREFLIGHT_HEADERS,
  rateLimit,
  rateLimitPolicy,
} from './headers.ts';
import { type Gauge, Metrics } from './metrics.ts';
import { type Health, healthResponse, metricsResponse } from './operations.ts';
import { single } from './parameters.ts';
import { type Query, readQuery, readTarget, type Target } from './query.ts';
import { Router } from './router.ts';

export interface ApiOptions {
  board: Board;
  gate: Gate;
  meter: Tally;
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

/** The longest path and query that are read, in characters. */
const URL_LENGTH_MAX = 8_192;

/** One request on its way, with what is known of it so far. */
interface Exchange {
  request: Request;
  target: Target;
  requestId: string;
  route: Route | undefined;
  customer: Customer | undefined;
}

/** The interface over HTTP: every request goes through `#answer`, from top to bottom. */
export class Api {
  readonly #options: ApiOptions;
  readonly #router: Router<Route>;
  readonly #clientAddress: ClientAddress;
  readonly #metrics: Metrics;
  readonly #idPrefix = crypto.randomUUID().slice(0, 8);
  #requests = 0;

  constructor(options: ApiOptions) {
    this.#options = options;
    this.#clientAddress = new ClientAddress(options.trustedProxies);
    this.#metrics = new Metrics(options.gauges);
    const routes: Record<string, Route> = { '/usage': USAGE };
    for (const endpoint of ENDPOINTS) routes[endpoint.path] = endpoint;
    this.#router = new Router(options.mounts, routes);
  }

  async handle(request: Request, peer: () => string): Promise<Response> {
    const started = performance.now();
    const target = readTarget(request.url);
    const exchange: Exchange = {
      request,
      target,
      requestId: `${this.#idPrefix}-${(++this.#requests).toString(36)}`,
      route: this.#router.find(target.path),
      customer: undefined,
    };
    let response: Response;
    try {
      response = await this.#answer(exchange, peer);
    } catch (error) {
      response = this.#refused(exchange, error);
    }
    if (this.#options.health().phase === 'draining') response.headers.set('Connection', 'close');
    this.#observe(exchange, response.status, performance.now() - started);
    return response;
  }

  /**
   * The order of checks is the contract's: path, method, key, account, burst limit, parameters, symbols, data, quota.
   * The answer is ready before it is counted, so an error or a 304 never costs a unit and nothing is refunded.
   */
  async #answer(exchange: Exchange, peer: () => string): Promise<Response> {
    const { request, target, route } = exchange;
    const { board, clock, health } = this.#options;
    if (target.length > URL_LENGTH_MAX)
      throw refuse('uri_too_long', { length: target.length, max: URL_LENGTH_MAX });
    if (!route) return this.#answerOperations(exchange, peer);
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: PREFLIGHT_HEADERS });
    this.#requireReading(request);
    if (health().phase === 'starting') throw refuse('unavailable', { why: 'it is starting' }, 1);

    const query = readQuery(target.query);
    const customer = await this.#admit(exchange, query, peer);
    if (route === USAGE) return this.#usage(exchange, customer);

    const context = { query, plan: customer.plan, board, now: clock.now() };
    const question = route.read(context);
    const view = board.view(customer.plan.delaySeconds * 1000);
    const loading = board.prepare(question.series, route.needs, context.now);
    if (loading) await loading;
    const answer = route.answer(question, view, context);

    const etag = etagOf(answer.content, etagSeed(board.epoch, view.delayMs), answer.prefix !== '');
    const ifNoneMatch = request.headers.get('if-none-match');
    if (ifNoneMatch !== null && matches(ifNoneMatch, etag)) return this.#notModified(exchange, answer, etag);
    if (request.method !== 'HEAD') await this.#count(customer, route.name);
    return this.#success(exchange, answer, etag);
  }

  #answerOperations({ request, target }: Exchange, peer: () => string): Response {
    const { adminToken, clock, health, version } = this.#options;
    if (target.path === '/health') {
      this.#requireReading(request);
      return healthResponse(health(), version, clock.now());
    }
    if (target.path === '/metrics') {
      this.#requireReading(request);
      return metricsResponse(request, peer(), adminToken, this.#metrics);
    }
    throw refuse('not_found', { path: target.path.slice(0, 100), hint: this.#router.hint(target.path) });
  }

  #requireReading({ method }: Request): void {
    if (method === 'GET' || method === 'HEAD') return;
    throw refuse('method_not_allowed', { method, allowed: ALLOWED_METHODS });
  }

  /** The header wins over the parameter. */
  async #admit(exchange: Exchange, query: Query, peer: () => string): Promise<Customer> {
    const { headers } = exchange.request;
    const inHeader = headers.get('x-api-key')?.trim();
    const key = inHeader || single(query, 'apiKey')?.trim();
    if (!key) throw refuse('missing_key', {});
    const address = () => this.#clientAddress.of(peer(), headers.get('x-forwarded-for'));
    const admitting = this.#options.gate.admit({ key, inUrl: !inHeader, address });
    const admission = admitting instanceof Promise ? await admitting : admitting;
    if (admission.ok) {
      exchange.customer = admission.customer;
      return admission.customer;
    }
    switch (admission.code) {
      case 'failed_keys':
        throw refuse('rate_limited', { limit: 'too many wrong keys came from your address' }, 60);
      case 'key_not_allowed':
        throw refuse('key_not_allowed', { why: admission.why });
      case 'rate_limited': {
        exchange.customer = admission.customer;
        const { name, burstPerSecond } = admission.customer.plan;
        throw refuse('rate_limited', { limit: `the plan "${name}" allows ${burstPerSecond} a second` }, 1);
      }
      default:
        throw refuse(admission.code, {});
    }
  }

  async #count(customer: Customer, endpoint: string): Promise<void> {
    const { id } = customer.account;
    const { name, quota } = customer.plan;
    const spending = this.#options.meter.spend({ id, quota }, endpoint);
    const spend = spending instanceof Promise ? await spending : spending;
    if (spend.ok) return;
    if (spend.reason === 'unavailable') {
      throw refuse('unavailable', { why: 'the quota cannot be checked' }, spend.retryAfterSeconds);
    }
    const resetAt = new Date(this.#monthEnd()).toISOString();
    throw refuse('quota_exhausted', { quota, plan: name, resetAt }, this.#secondsToMonthEnd());
  }

  async #usage(exchange: Exchange, { account, plan }: Customer): Promise<Response> {
    const { used } = await this.#options.meter.usage(account.id);
    const body = JSON.stringify({
      success: true,
      plan: plan.name,
      quota: plan.quota,
      used,
      remaining: Math.max(0, plan.quota - used),
      resetAt: Math.floor(this.#monthEnd() / 1000),
    });
    return new Response(body, {
      headers: { ...this.#headers(exchange), 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store' },
    });
  }

  #success(exchange: Exchange, answer: Answer, etag: string): Response {
    const body = answer.prefix + answer.content;
    const headers: Record<string, string> = {
      ...this.#headers(exchange),
      'Content-Type': JSON_TYPE,
      'Cache-Control': cacheControl(answer),
      ETag: etag,
    };
    if (body.length <= COMPRESS_FROM_BYTES || !acceptsGzip(exchange.request.headers.get('accept-encoding'))) {
      return new Response(body, { headers });
    }
    headers['Content-Encoding'] = 'gzip';
    headers.ETag = etagOfEncoding(etag, 'gzip');
    return new Response(Bun.gzipSync(body), { headers });
  }

  #notModified(exchange: Exchange, answer: Answer, etag: string): Response {
    const headers = { ...this.#headers(exchange), 'Cache-Control': cacheControl(answer), ETag: etag };
    return new Response(null, { status: 304, headers });
  }

  #refused(exchange: Exchange, error: unknown): Response {
    const refusal = error instanceof Refusal ? error : this.#bug(exchange, error);
    const { code, status, message, retryAfterSeconds } = refusal;
    const body =
      exchange.route === USAGE
        ? { success: false, error: message }
        : { success: false, message, statusCode: String(status), code };
    const headers: Record<string, string> = {
      ...this.#headers(exchange),
      'Content-Type': JSON_TYPE,
      'Cache-Control': 'no-store',
    };
    if (retryAfterSeconds !== undefined) headers['Retry-After'] = String(retryAfterSeconds);
    if (status === 401) headers['WWW-Authenticate'] = 'ApiKey realm="openpit"';
    if (status === 405) headers.Allow = ALLOWED_METHODS;
    return new Response(JSON.stringify(body), { status, headers });
  }

  /** What nobody expected is logged in full and told as nothing but its id. */
  #bug({ requestId, route }: Exchange, error: unknown): Refusal {
    const stack = error instanceof Error ? error.stack : undefined;
    this.#options.log.error('request failed', {
      requestId,
      endpoint: nameOf(route),
      message: messageOf(error),
      stack,
    });
    return refuse('internal', { requestId });
  }

  #headers({ requestId, customer }: Exchange): Record<string, string> {
    const headers: Record<string, string> = { ...COMMON_HEADERS, 'X-Request-Id': requestId };
    if (customer) {
      const { quota, burstPerSecond } = customer.plan;
      headers['RateLimit-Policy'] = rateLimitPolicy(quota, burstPerSecond);
      headers.RateLimit = rateLimit(quota, this.#secondsToMonthEnd());
    }
    return headers;
  }

  #monthEnd(): number {
    const date = new Date(this.#options.clock.now());
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  }

  #secondsToMonthEnd(): number {
    return Math.ceil((this.#monthEnd() - this.#options.clock.now()) / 1000);
  }

  #observe({ request, requestId, route }: Exchange, status: number, ms: number): void {
    const endpoint = nameOf(route);
    this.#metrics.count(endpoint, status, ms / 1000);
    const { log } = this.#options;
    if (log.debugs) log.debug('request', { requestId, method: request.method, endpoint, status, ms });
  }
}

/** Closed days change only by a correction; anything that holds today may change at once. */
function cacheControl({ holdsToday }: Answer): string {
  return holdsToday ? 'private, no-cache' : 'private, max-age=60';
}

function nameOf(route: Route | undefined): string {
  return route === undefined ? 'other' : route === USAGE ? USAGE : route.name;
}
