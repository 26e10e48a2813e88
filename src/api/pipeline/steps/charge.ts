import type { CountedEndpoint } from '../../../gate/endpoints.ts';
import type { Meter } from '../../../gate/meter/meter.ts';
import { exhausted, type Spend } from '../../../gate/meter/spend.ts';
import type { KeyUses } from '../../../gate/statistics/key-uses.ts';
import type { Visitors } from '../../../gate/visitors.ts';
import type { Plan } from '../../../ledger/accounts/plans.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { ClientAddress } from '../../access/client-address.ts';
import { type Refusal, refuse } from '../../errors/errors.ts';
import { quotaRefusal, visitorRefusal } from '../../errors/from-gate.ts';
import type { MarketEndpoint, PriceEndpoint, StreamEndpoint } from '../../model/endpoint.ts';
import { type MaybeAsync, maybeAsync } from '../../model/maybe-async.ts';
import { visitorRateLimit } from '../../response/headers.ts';
import type { RemainingQuota } from '../../response/remaining-quota.ts';
import type { RateLimit } from '../../response/request-lines.ts';
import type { RequestContext } from '../request/request-context.ts';

/** What is left to a customer, and the refusal of a request that costs more. */
export interface Balance {
  remaining: number;
  /** When the quota resets, in ms; undefined for visitors, who regain units all the time. */
  resetAt?: number;
  refusal: Refusal | undefined;
}

/** Takes units of the quota. */
export class Charge {
  readonly #meter: Meter;
  readonly #keyUses: KeyUses;
  readonly #clock: Clock;
  readonly #remainingQuota: RemainingQuota;
  readonly #clientAddress: ClientAddress;

  constructor(
    meter: Meter,
    keyUses: KeyUses,
    clock: Clock,
    remainingQuota: RemainingQuota,
    clientAddress: ClientAddress,
  ) {
    this.#meter = meter;
    this.#keyUses = keyUses;
    this.#clock = clock;
    this.#remainingQuota = remainingQuota;
    this.#clientAddress = clientAddress;
  }

  /** Takes all units or none, or refuses. Returns what is left. A request with an id of its own is charged once. */
  take(
    context: RequestContext,
    { name }: MarketEndpoint | PriceEndpoint | StreamEndpoint,
    units = 1,
    now = this.#clock.now(),
  ): MaybeAsync<RateLimit> {
    const { customer } = context;
    if (context.chargedBefore) throw refuse('already_charged', {});
    if (customer!.visitors) return this.#takeFromVisitor(context, customer!.visitors, units, now);
    const spend = this.#meter.spend(customer!, name, now, units);
    if (spend instanceof Promise) return spend.then((settled) => this.#settle(context, name, settled, units));
    return this.#settle(context, name, spend, units, now);
  }

  /** Takes the unit for the next events of a stream. A refusal is returned, as there is no response to refuse any more. */
  takeForEvents({ customer, knownKey }: RequestContext, { name }: StreamEndpoint): MaybeAsync<Spend> {
    const now = this.#clock.now();
    return maybeAsync(this.#meter.spend(customer!, name, now), (spend) => {
      if (spend.ok) this.#keyUses.count(knownKey!, name, 1, now);
      return spend;
    });
  }

  /** Refuses a request known to cost more than what is left. Charges nothing. */
  requireAffordable(context: RequestContext, units: number): void {
    const balance = this.#knownBalance(context, units);
    if (balance?.refusal) throw balance.refusal;
  }

  /** What is left over all replicas, and whether it covers the units. Charges nothing. */
  async balance(context: RequestContext, units: number): Promise<Balance> {
    const { id, plan, visitors } = context.customer!;
    if (visitors) return this.#visitorBalance(context, visitors, units);
    const { used } = await this.#meter.usage(id);
    return this.#quotaBalance(plan, Math.max(0, plan.quota - used), units);
  }

  /** The same as far as this process knows; undefined before the customer's first charge on a new or changed plan. */
  #knownBalance(context: RequestContext, units: number): Balance | undefined {
    const { id, plan, visitors } = context.customer!;
    if (visitors) return this.#visitorBalance(context, visitors, units);
    const known = this.#meter.known(id);
    return known?.quota === plan.quota ? this.#quotaBalance(plan, known.remaining, units) : undefined;
  }

  #quotaBalance(plan: Plan, remaining: number, units: number): Balance {
    const { resetAt, secondsToReset } = this.#remainingQuota;
    const refusal =
      units > remaining ? quotaRefusal(exhausted(secondsToReset), plan, { resetAt }, units) : undefined;
    return { remaining, resetAt, refusal };
  }

  #visitorBalance(context: RequestContext, visitors: Visitors, units: number): Balance {
    const address = this.#clientAddress.ofRequest(context);
    const { remaining, retryAfterSeconds } = visitors.balance(address, units, this.#clock.now());
    return {
      remaining,
      refusal: retryAfterSeconds > 0 ? visitorRefusal(retryAfterSeconds, units) : undefined,
    };
  }

  /** Visitors of the page have limits of their own, so that none of them can use up what the others need. */
  #takeFromVisitor(context: RequestContext, visitors: Visitors, units: number, now: number): RateLimit {
    const charge = visitors.charge(this.#clientAddress.ofRequest(context), units, now);
    if (!charge.ok) throw visitorRefusal(charge.retryAfterSeconds, units);
    context.isCharged = true;
    return visitorRateLimit(charge.remaining);
  }

  #settle(
    context: RequestContext,
    endpoint: CountedEndpoint,
    spend: Spend,
    units: number,
    now = this.#clock.now(),
  ): RateLimit {
    const { customer, knownKey } = context;
    if (!spend.ok) throw quotaRefusal(spend, customer!.plan, this.#remainingQuota, units);
    context.isCharged = true;
    this.#keyUses.count(knownKey!, endpoint, units, now);
    return this.#remainingQuota.afterCharge(customer!, spend.remaining, now);
  }
}
