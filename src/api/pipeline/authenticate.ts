import type { Customer } from '../../gate/directory.ts';
import type { Gate } from '../../gate/gate.ts';
import type { Meter } from '../../gate/meter/meter.ts';
import { ClientAddress } from '../access/client-address.ts';
import { refuse } from '../errors/errors.ts';
import { admissionRefusal, quotaRefusal } from '../errors/from-gate.ts';
import type { PriceEndpoint, StreamEndpoint } from '../model/endpoint.ts';
import { type MaybeAsync, maybeAsync } from '../model/maybe-async.ts';
import type { QueryParams } from '../model/query.ts';
import type { RequestContext } from '../model/request-context.ts';
import { single } from '../params/parameters.ts';
import type { RateLimitHeader } from '../response/rate-limit-header.ts';

export interface ReceptionOptions {
  gate: Gate;
  meter: Meter;
  trustedProxies: readonly string[];
}

/** Asks the gate, and puts its noes into words. */
export class Reception {
  readonly #options: ReceptionOptions;
  readonly #allowance: RateLimitHeader;
  readonly #clientAddress: ClientAddress;

  constructor(options: ReceptionOptions, allowance: RateLimitHeader) {
    this.#options = options;
    this.#allowance = allowance;
    this.#clientAddress = new ClientAddress(options.trustedProxies);
  }

  /** Finds out who asks. The header wins over the parameter. */
  admit(exchange: RequestContext, query: QueryParams): MaybeAsync<Customer> {
    const inHeader = exchange.request.headers.get('x-api-key')?.trim();
    const key = inHeader || single(query, 'apiKey')?.trim();
    if (!key) throw refuse('missing_key', { hasCursor: query.has('cursor') });
    const address = () => this.addressOf(exchange);
    const admitting = this.#options.gate.admit({ key, inUrl: !inHeader, address });
    return maybeAsync(admitting, (admission) => {
      if ('customer' in admission) exchange.customer = admission.customer;
      return maybeAsync(exchange.customer && this.#allowance.learn(exchange.customer), () => {
        if (!admission.ok) throw admissionRefusal(admission);
        exchange.key = { text: key, known: admission.key };
        return admission.customer;
      });
    });
  }

  /** Takes units of the quota, all or none, or refuses. */
  count(
    exchange: RequestContext,
    { account, plan }: Customer,
    { name }: PriceEndpoint | StreamEndpoint,
    units = 1,
  ): MaybeAsync<void> {
    const spending = exchange.spending ?? this.#options.meter.spend(account, name, undefined, units);
    return maybeAsync(spending, (spend) => {
      if (!spend.ok) throw quotaRefusal(spend, plan, this.#allowance, units);
    });
  }

  /** Refuses what is known to cost more than is left of the quota. Nothing is taken. */
  requireAffordable({ account, plan }: Customer, units: number): void {
    const { meter } = this.#options;
    const known = meter.known(account.id);
    if (!known || known.remaining >= units) return;
    const spend = { ok: false, reason: 'exhausted', retryAfterSeconds: meter.secondsToReset() } as const;
    throw quotaRefusal(spend, plan, this.#allowance, units);
  }

  addressOf({ request, peer }: RequestContext): string {
    return this.#clientAddress.of(peer(), request.headers.get('x-forwarded-for'));
  }
}
