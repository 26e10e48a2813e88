import type { CountedEndpoint } from '../../../gate/endpoints.ts';
import type { Meter } from '../../../gate/meter/meter.ts';
import type { Spend } from '../../../gate/meter/spend.ts';
import type { KeyUses } from '../../../gate/statistics/key-uses.ts';
import type { Visitors } from '../../../gate/visitors.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { ClientAddress } from '../../access/client-address.ts';
import { quotaRefusal, visitorRefusal } from '../../errors/from-gate.ts';
import type { MarketEndpoint, PriceEndpoint, StreamEndpoint } from '../../model/endpoint.ts';
import type { MaybeAsync } from '../../model/maybe-async.ts';
import { visitorRateLimit } from '../../response/headers.ts';
import type { RateLimitHeader } from '../../response/rate-limit-header.ts';
import type { RateLimit } from '../../response/request-lines.ts';
import type { RequestContext } from '../request/request-context.ts';

/** Takes units of the quota. */
export class Charge {
  readonly #meter: Meter;
  readonly #keyUses: KeyUses;
  readonly #clock: Clock;
  readonly #rateLimits: RateLimitHeader;
  readonly #clientAddress: ClientAddress;

  constructor(
    meter: Meter,
    keyUses: KeyUses,
    clock: Clock,
    rateLimits: RateLimitHeader,
    clientAddress: ClientAddress,
  ) {
    this.#meter = meter;
    this.#keyUses = keyUses;
    this.#clock = clock;
    this.#rateLimits = rateLimits;
    this.#clientAddress = clientAddress;
  }

  /** Takes all units or none, or refuses. Returns what is left. */
  take(
    context: RequestContext,
    { name }: MarketEndpoint | PriceEndpoint | StreamEndpoint,
    units = 1,
    now = this.#clock.now(),
  ): MaybeAsync<RateLimit> {
    const { customer } = context;
    if (customer!.visitors) return this.#takeFromVisitor(context, customer!.visitors, units, now);
    const spend = this.#meter.spend(customer!, name, now, units);
    if (spend instanceof Promise) return spend.then((settled) => this.#settle(context, name, settled, units));
    return this.#settle(context, name, spend, units, now);
  }

  /** Refuses a request known to cost more than the remaining quota. Charges nothing. */
  requireAffordable(context: RequestContext, units: number): void {
    const { id, plan, visitors } = context.customer!;
    if (visitors) {
      const address = this.#clientAddress.ofRequest(context);
      const { retryAfterSeconds } = visitors.balance(address, units, this.#clock.now());
      if (retryAfterSeconds > 0) throw visitorRefusal(retryAfterSeconds);
      return;
    }
    const known = this.#meter.known(id);
    if (!known || known.remaining >= units) return;
    const retryAfterSeconds = this.#meter.secondsToReset();
    throw quotaRefusal({ ok: false, reason: 'exhausted', retryAfterSeconds }, plan, this.#rateLimits, units);
  }

  /** Visitors of the page have limits of their own, so that none of them can use up what the others need. */
  #takeFromVisitor(context: RequestContext, visitors: Visitors, units: number, now: number): RateLimit {
    const charge = visitors.charge(this.#clientAddress.ofRequest(context), units, now);
    if (!charge.ok) throw visitorRefusal(charge.retryAfterSeconds);
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
    if (!spend.ok) throw quotaRefusal(spend, customer!.plan, this.#rateLimits, units);
    context.isCharged = true;
    this.#keyUses.count(knownKey!, endpoint, units, now);
    return this.#rateLimits.afterCharge(customer!, spend.remaining, now);
  }
}
