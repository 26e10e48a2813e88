import type { Customer } from '../gate/directory.ts';
import type { Meter } from '../gate/meter.ts';

/** What is left of each customer's quota, for the headers: what this process knows, without asking the ledger twice. */
export class Allowance {
  readonly #meter: Meter;
  /** What was last known of customers that hold no lease now. */
  readonly #last = new WeakMap<Customer, { remaining: number; resetAt: number }>();

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  /** Undefined when the ledger has not been asked this month. */
  known(customer: Customer): number | undefined {
    const lease = this.#meter.known(customer.account.id);
    if (lease) return this.#keep(customer, lease.remaining);
    const last = this.#last.get(customer);
    return last?.resetAt === this.#meter.resetAt() ? last.remaining : undefined;
  }

  /** Sees to it that `known` has an answer; without the ledger it stays undefined. */
  async learn(customer: Customer): Promise<void> {
    if (this.known(customer) !== undefined) return;
    const usage = await this.#meter.usage(customer.account.id).catch(() => undefined);
    if (usage) this.#keep(customer, Math.max(0, usage.quota - usage.used));
  }

  get resetAt(): number {
    return this.#meter.resetAt();
  }

  get secondsToReset(): number {
    return this.#meter.secondsToReset();
  }

  #keep(customer: Customer, remaining: number): number {
    this.#last.set(customer, { remaining, resetAt: this.#meter.resetAt() });
    return remaining;
  }
}
