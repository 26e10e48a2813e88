import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ClientAddress } from '../access/client-address.ts';
import { type ServeMcpOptions, serveMcp } from '../agents/serve-mcp.ts';
import type { AnswerCache } from '../cache/answer-cache.ts';
import type { Endpoint, MarketEndpoint, PriceEndpoint } from '../model/endpoint.ts';
import type { Phase } from '../model/health.ts';
import { type MaybeAsync, maybeAsync } from '../model/maybe-async.ts';
import type { Responses } from '../response/responses.ts';
import type { Router } from '../routing/router.ts';
import type { RequestObserver } from '../telemetry/request-observer.ts';
import { type DryRunOptions, reportCost, reportReadCost } from './dry-run/dry-run.ts';
import { type FailureOptions, refusalOf } from './failure.ts';
import { type ChargeFormulasOptions, chargeFormulas } from './formulas/charge-formulas.ts';
import { type AnswerOnceOptions, answerOnce } from './idempotency/answer-once.ts';
import type { ParquetDelivery } from './parquet/parquet-delivery.ts';
import { RequestContext } from './request/request-context.ts';
import type { Response, Step } from './request/step.ts';
import { type AuthenticateOptions, authenticate, loadQuota } from './steps/authenticate.ts';
import { type BuildAnswerOptions, buildAnswer } from './steps/build-answer.ts';
import type { Delivery } from './steps/deliver.ts';
import { type OpenStreamOptions, openStream } from './steps/open-stream.ts';
import { readParameters } from './steps/read-parameters.ts';
import { checkMethod, requireStarted, route } from './steps/route.ts';
import { sendCached } from './steps/send-cached.ts';
import { type SendFromLedgerOptions, sendFromLedger } from './steps/send-from-ledger.ts';
import {
  type ServeOptions,
  serveAccount,
  serveAdmin,
  serveMarket,
  serveOpen,
  serveOwner,
} from './steps/serve.ts';

export interface PipelineOptions
  extends AnswerOnceOptions,
    AuthenticateOptions,
    BuildAnswerOptions,
    ChargeFormulasOptions,
    DryRunOptions,
    FailureOptions,
    OpenStreamOptions,
    SendFromLedgerOptions,
    Omit<ServeMcpOptions, 'handle'>,
    ServeOptions {
  answerCache: AnswerCache;
  clientAddress: ClientAddress;
  clock: Clock;
  delivery: Delivery;
  observer: RequestObserver;
  parquet: ParquetDelivery;
  phase(): Phase;
  responses: Responses;
  router: Router<Endpoint>;
}

/** The steps of each kind of endpoint, after `route` and `checkMethod`. */
type StepsByKind = { readonly [K in Endpoint['kind']]: readonly Step<Extract<Endpoint, { kind: K }>>[] };

/**
 * The life of a request, in the order of checks that the contract sets. Each step passes the request on, or it leaves with
 * a response (→) or a refusal (✗):
 *
 *     route           → `OPTIONS *`              ✗ uri_too_long, not_found
 *     checkMethod     → OPTIONS                  ✗ method_not_allowed
 *       then, by kind of endpoint:
 *     serveOpen       → health, site, metrics
 *     serveAdmin      → operator                 ✗ invalid_admin_token, rate_limited, invalid_body, …
 *     requireStarted                             ✗ unavailable
 *     authenticate                               ✗ missing_key, invalid_key, account_suspended, key_not_allowed, rate_limited
 *     loadQuota                                  (not for prices: a charge returns what is left)
 *     serveAccount    → usage
 *     serveOwner      → account, keys, feeds, units  ✗ key_not_allowed, invalid_body, …
 *     openStream      → events                   ✗ as for prices
 *     serveMcp        → tools for agents         (their requests pass the pipeline on their own)
 *     answerOnce      → a repeated request; otherwise it runs the steps that follow
 *     serveMarket     → the market view          ✗ invalid_visit, quota_exhausted
 *     sendCached      → 200 or 304 from the cache  ✗ quota_exhausted
 *     readParameters                             ✗ the 400s, unknown_symbol, history_not_in_plan
 *     reportReadCost  → dry run of the next step
 *     sendBought      → the same Parquet file again  ✗ invalid_byte_range
 *     sendFromLedger  → point-in-time answers    ✗ quota_exhausted, no_data
 *     buildAnswer                                ✗ no_data, invalid_formula
 *     reportCost      → dry run
 *     deliver         → 200, 304, HEAD           ✗ quota_exhausted, already_charged, unavailable
 *
 * An answer is complete before it is charged, so an error or a 304 costs nothing and nothing is refunded. The exception is
 * `sendFromLedger`, which charges for the read, and a formula whose value would otherwise be known for free.
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #steps: StepsByKind;

  constructor(options: PipelineOptions) {
    this.#options = options;
    const { delivery, parquet } = options;
    const enter = [requireStarted(options), authenticate(options)];
    const enterFree = [...enter, loadQuota(options)];
    this.#steps = {
      open: [serveOpen(options)],
      admin: [serveAdmin(options)],
      account: [...enterFree, serveAccount(options)],
      owner: [...enterFree, serveOwner(options)],
      stream: [...enterFree, openStream(options)],
      market: [...enterFree, ...this.#once([serveMarket(options)])],
      mcp: [...enterFree, serveMcp({ ...options, handle: (request, peer) => this.handle(request, peer) })],
      prices: [
        ...enter,
        ...this.#once<PriceEndpoint>([
          sendCached(options),
          readParameters(options),
          reportReadCost(options),
          (context) => parquet.sendBought(context),
          sendFromLedger(options),
          chargeFormulas(options, buildAnswer(options)),
          reportCost(options),
          function deliver(context, endpoint) {
            return delivery.send(context, endpoint, context.answer!);
          },
        ]),
      ],
    };
  }

  /** Wraps the steps so that a repeated request skips them. */
  #once<E extends MarketEndpoint | PriceEndpoint>(steps: readonly Step<E>[]): Step<E>[] {
    const run = (context: RequestContext, endpoint: E) =>
      this.#run(context, endpoint, steps as readonly Step[], 0);
    return [answerOnce(this.#options, run), ...steps];
  }

  handle(request: IncomingRequest, peer: () => string): MaybeAsync<Response> {
    const { answerCache, clock } = this.#options;
    const context = new RequestContext(request, peer, answerCache, clock.now());
    try {
      const response = this.#start(context);
      if (!(response instanceof Promise)) return this.#observe(context, response);
      return response.then(
        (settled) => this.#observe(context, settled),
        (error) => this.#refuse(context, error),
      );
    } catch (error) {
      return this.#refuse(context, error);
    }
  }

  #start(context: RequestContext): MaybeAsync<Response> {
    const response = route(context, this.#options.router);
    if (response) return response;
    const endpoint = context.endpoint!;
    return (
      checkMethod(context, endpoint) ??
      this.#run(context, endpoint, this.#steps[endpoint.kind] as readonly Step[], 0)
    );
  }

  /** Runs the steps from an index on. It waits only for those that return a promise. */
  #run(
    context: RequestContext,
    endpoint: Endpoint,
    steps: readonly Step[],
    first: number,
  ): MaybeAsync<Response> {
    for (let i = first; i < steps.length; i++) {
      const result = steps[i]!(context, endpoint);
      if (result instanceof Promise) {
        return result.then((response) => {
          if (response) return response;
          context.now = this.#options.clock.now();
          return this.#run(context, endpoint, steps, i + 1);
        });
      }
      if (result) return result;
    }
    throw new Error(`no step has answered ${endpoint.name}`);
  }

  /** A refusal is not charged, so what is left of the quota may have to be read. An outage says nothing about it. */
  #refuse(context: RequestContext, error: unknown): MaybeAsync<Response> {
    const { remainingQuota, responses } = this.#options;
    const { customer, now } = context;
    const refusal = refusalOf(error, context, this.#options);
    const loading =
      customer && refusal.code !== 'unavailable' ? remainingQuota.load(customer, now) : undefined;
    return maybeAsync(loading, () =>
      this.#observe(context, responses.refusal(context, refusal, context.endpoint)),
    );
  }

  /** Records the request in metrics and logs, and adds `X-Request-Id`. */
  #observe(context: RequestContext, response: Response): Response {
    const { observer, clientAddress } = this.#options;
    const { request, endpoint, customer } = context;
    const { status } = response;
    const name = endpoint?.name ?? 'other';
    const timer = observer.logsRequests
      ? observer.logged({
          request,
          requestId: context.requestId,
          endpoint: name,
          status,
          account: customer?.id,
          address: clientAddress.ofRequest(context),
        })
      : observer.counter(name, status);
    if ('bytes' in response) {
      response.timer = timer;
      return response;
    }
    const headers = { ...response.headers, 'X-Request-Id': context.requestId };
    return { ...response, headers, timer, isAuthenticated: customer !== undefined };
  }
}
