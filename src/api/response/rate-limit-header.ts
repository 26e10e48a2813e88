import type { Customer } from '../../gate/directory.ts';
import type { Meter } from '../../gate/meter/meter.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { MaybeAsync } from '../model/maybe-async.ts';
import { rateLimit } from './headers.ts';

/** What is left of each customer's quota, for the headers: what this process knows, without asking the ledger twice. */
export class RateLimitHeader {
  readonly #meter: Meter;
  readonly #clock: Clock;
  #resetAt = 0;
  #secondsToReset = 0;
  /** The two above hold until this moment: the end of a second. */
  #holdsUntil = 0;

  constructor(meter: Meter, clock: Clock) {
    this.#meter = meter;
    this.#clock = clock;
  }

  /** The value of the header RateLimit; undefined when the ledger has not been asked this month. */
  header(customer: Customer): string | undefined {
    const remaining = this.#remaining(customer);
    return remaining === undefined ? undefined : rateLimit(remaining, this.secondsToReset);
  }

  /** The same after a unit was taken: what is left is known. */
  headerAfter({ left }: Customer, remaining: number, now: number): string {
    if (now >= this.#holdsUntil || now < this.#holdsUntil - 1000) this.#refresh(now);
    left.remaining = remaining;
    left.resetAt = this.#resetAt;
    return rateLimit(remaining, this.#secondsToReset);
  }

  /** Sees to it that `header` has a value; without the ledger it has none. */
  learn(customer: Customer): MaybeAsync<void> {
    return this.#remaining(customer) === undefined ? this.#ask(customer) : undefined;
  }

  async #ask(customer: Customer): Promise<void> {
    const usage = await this.#meter.usage(customer.account.id).catch(() => undefined);
    if (usage) customer.left = { remaining: Math.max(0, usage.quota - usage.used), resetAt: this.resetAt };
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
    const lease = this.#meter.known(customer.account.id);
    const { left } = customer;
    if (!lease) return left.resetAt === this.resetAt ? left.remaining : undefined;
    left.remaining = lease.remaining;
    left.resetAt = this.resetAt;
    return lease.remaining;
  }

  /** The month is worked out once a second, not once a request. */
  #refresh(now: number): void {
    if (now < this.#holdsUntil && now >= this.#holdsUntil - 1000) return;
    this.#holdsUntil = Math.floor(now / 1000) * 1000 + 1000;
    this.#resetAt = this.#meter.resetAt();
    this.#secondsToReset = this.#meter.secondsToReset();
  }
}
