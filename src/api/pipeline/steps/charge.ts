import type { Customer } from '../../../gate/directory.ts';
import type { Meter } from '../../../gate/meter/meter.ts';
import type { Spend } from '../../../gate/meter/spend.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { quotaRefusal } from '../../errors/from-gate.ts';
import type { PriceEndpoint, StreamEndpoint } from '../../model/endpoint.ts';
import type { MaybeAsync } from '../../model/maybe-async.ts';
import type { RateLimitHeader } from '../../response/rate-limit-header.ts';
import type { RequestContext } from '../request/request-context.ts';

/** Takes units of the quota. */
export class Charge {
  readonly #meter: Meter;
  readonly #clock: Clock;
  readonly #rateLimits: RateLimitHeader;

  constructor(meter: Meter, clock: Clock, rateLimits: RateLimitHeader) {
    this.#meter = meter;
    this.#clock = clock;
    this.#rateLimits = rateLimits;
  }

  /** Takes all units or none, or refuses. Returns the `RateLimit` header. */
  take(
    { customer }: RequestContext,
    { name }: PriceEndpoint | StreamEndpoint,
    units = 1,
    now = this.#clock.now(),
  ): MaybeAsync<string> {
    const spend = this.#meter.spend(customer!.account, name, now, units);
    if (spend instanceof Promise) {
      return spend.then((settled) => this.#settle(customer!, settled, units, this.#clock.now()));
    }
    return this.#settle(customer!, spend, units, now);
  }

  /** Refuses what is known to cost more than is left of the quota. It takes nothing. */
  requireAffordable({ account, plan }: Customer, units: number): void {
    const known = this.#meter.known(account.id);
    if (!known || known.remaining >= units) return;
    const retryAfterSeconds = this.#meter.secondsToReset();
    throw quotaRefusal({ ok: false, reason: 'exhausted', retryAfterSeconds }, plan, this.#rateLimits, units);
  }

  #settle(customer: Customer, spend: Spend, units: number, now: number): string {
    if (!spend.ok) throw quotaRefusal(spend, customer.plan, this.#rateLimits, units);
    return this.#rateLimits.afterCharge(customer, spend.remaining, now);
  }
}
