import type { Customer } from '../../gate/directory.ts';
import type { Gate } from '../../gate/gate.ts';
import type { Meter } from '../../gate/meter/meter.ts';
import { refuse } from '../errors/errors.ts';
import { admissionRefusal, quotaRefusal } from '../errors/from-gate.ts';
import type { PriceEndpoint, StreamEndpoint } from '../model/endpoint.ts';
import { type Soon, soon } from '../model/maybe-async.ts';
import type { Query } from '../model/query.ts';
import type { Exchange } from '../model/request-context.ts';
import { single } from '../params/parameters.ts';
import type { Allowance } from '../response/rate-limit-header.ts';
import { ClientAddress } from './client-address.ts';

export interface ReceptionOptions {
  gate: Gate;
  meter: Meter;
  trustedProxies: readonly string[];
}

/** Asks the gate, and puts its noes into words. */
export class Reception {
  readonly #options: ReceptionOptions;
  readonly #allowance: Allowance;
  readonly #clientAddress: ClientAddress;

  constructor(options: ReceptionOptions, allowance: Allowance) {
    this.#options = options;
    this.#allowance = allowance;
    this.#clientAddress = new ClientAddress(options.trustedProxies);
  }

  /** Finds out who asks. The header wins over the parameter. */
  admit(exchange: Exchange, query: Query): Soon<Customer> {
    const inHeader = exchange.request.headers.get('x-api-key')?.trim();
    const key = inHeader || single(query, 'apiKey')?.trim();
    if (!key) throw refuse('missing_key', { hasCursor: query.has('cursor') });
    const address = () => this.addressOf(exchange);
    const admitting = this.#options.gate.admit({ key, inUrl: !inHeader, address });
    return soon(admitting, (admission) => {
      if ('customer' in admission) exchange.customer = admission.customer;
      return soon(exchange.customer && this.#allowance.learn(exchange.customer), () => {
        if (!admission.ok) throw admissionRefusal(admission);
        exchange.key = { text: key, known: admission.key };
        return admission.customer;
      });
    });
  }

  /** Takes units of the quota, all or none, or refuses. */
  count(
    exchange: Exchange,
    { account, plan }: Customer,
    { name }: PriceEndpoint | StreamEndpoint,
    units = 1,
  ): Soon<void> {
    const spending = exchange.spending ?? this.#options.meter.spend(account, name, undefined, units);
    return soon(spending, (spend) => {
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

  addressOf({ request, peer }: Exchange): string {
    return this.#clientAddress.of(peer(), request.headers.get('x-forwarded-for'));
  }
}
