import type { Customer } from '../../gate/directory/customer.ts';
import type { Meter } from '../../gate/meter/meter.ts';
import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ClientAddress } from '../access/client-address.ts';
import { visitorRateLimit } from './headers.ts';
import type { RateLimit } from './request-lines.ts';

/** A request of a customer. */
interface CustomerRequest {
  readonly request: IncomingRequest;
  readonly peer: () => string;
  /** Set once the request is authenticated. */
  readonly customer: Customer | undefined;
}

/**
 * What is left of the quota of each customer, as far as this process knows, and to each visitor of the page. Responses have it
 * in the header `RateLimit`.
 */
export class RemainingQuota {
  readonly #meter: Meter;
  readonly #clock: Clock;
  readonly #clientAddress: ClientAddress;
  #resetAt = 0;
  #secondsToReset = 0;
  /** The two above are valid until this moment: the end of a second. */
  #validUntil = 0;

  constructor(meter: Meter, clock: Clock, clientAddress: ClientAddress) {
    this.#meter = meter;
    this.#clock = clock;
    this.#clientAddress = clientAddress;
  }

  /** Undefined before the first ledger call of the month. */
  of(request: CustomerRequest): RateLimit | undefined {
    const customer = request.customer!;
    const { visitors } = customer;
    if (visitors) {
      const address = this.#clientAddress.ofRequest(request);
      return visitorRateLimit(visitors.balance(address, 0, this.#clock.now()).remaining);
    }
    const remaining = this.#remaining(customer);
    if (remaining === undefined) return undefined;
    return { policy: 'month', remaining, resetSeconds: this.secondsToReset };
  }

  /** The same after a charge that left `remaining` units. */
  afterCharge(customer: Customer, remaining: number, now: number): RateLimit {
    this.#refresh(now);
    customer.remaining = Math.max(0, remaining);
    customer.resetAt = this.#resetAt;
    return { policy: 'month', remaining: customer.remaining, resetSeconds: this.#secondsToReset };
  }

  /** Asks the ledger where `of` would have no value. If the ledger is unavailable, it has none afterwards either. */
  load(customer: Customer, now: number): Promise<undefined> | undefined {
    this.#refresh(now);
    if (customer.visitors) return undefined;
    if (customer.resetAt === this.#resetAt) return undefined;
    return this.#remaining(customer) === undefined ? this.#ask(customer) : undefined;
  }

  async #ask(customer: Customer): Promise<undefined> {
    const usage = await this.#meter.usage(customer.id).catch(() => undefined);
    if (!usage) return;
    customer.remaining = Math.max(0, usage.quota - usage.used);
    customer.resetAt = this.resetAt;
  }

  /** When quotas reset, in ms. */
  get resetAt(): number {
    this.#refresh(this.#clock.now());
    return this.#resetAt;
  }

  get secondsToReset(): number {
    this.#refresh(this.#clock.now());
    return this.#secondsToReset;
  }

  #remaining(customer: Customer): number | undefined {
    const lease = this.#meter.known(customer.id);
    if (!lease) return customer.resetAt === this.resetAt ? customer.remaining : undefined;
    customer.remaining = Math.max(0, lease.remaining);
    customer.resetAt = this.resetAt;
    return customer.remaining;
  }

  /** Computes the month once a second, not once a request. */
  #refresh(now: number): void {
    if (now < this.#validUntil && now >= this.#validUntil - 1000) return;
    this.#validUntil = Math.floor(now / 1000) * 1000 + 1000;
    this.#resetAt = this.#meter.resetAt();
    this.#secondsToReset = this.#meter.secondsToReset();
  }
}
