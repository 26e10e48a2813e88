import type { Ledger } from '../../src/ledger/ledger.ts';
import { giveQuota } from '../support/quota.ts';
import type { Random } from './random.ts';
import type { Tally } from './tally.ts';

/** The accounts of a run, whose quotas change while it runs. */
export class Accounts {
  readonly all: { id: string; quota: number }[] = [];
  readonly #ledger: Ledger;
  readonly #random: Random;
  readonly #tally: Tally;
  #isAnyLowered = false;

  constructor(ledger: Ledger, random: Random, tally: Tally) {
    this.#ledger = ledger;
    this.#random = random;
    this.#tally = tally;
  }

  async add(id: string): Promise<void> {
    const quota = this.#random.pick([1, 7, 40, 200, 700]);
    await giveQuota(this.#ledger, id, quota);
    this.all.push({ id, quota });
    this.#tally.quotaMax.set(id, quota);
  }

  /** Gives one of them another quota. */
  changePlan(): Promise<void> {
    const account = this.#random.pick(this.all);
    const quota = Math.max(1, Math.floor(account.quota * this.#random.between(0.5, 1.5)));
    if (quota < account.quota) this.#isAnyLowered = true;
    account.quota = quota;
    this.#tally.quotaMax.set(account.id, Math.max(quota, this.#tally.quotaMax.get(account.id)!));
    return giveQuota(this.#ledger, account.id, quota);
  }

  /** Accounts that were granted more than their quota. After a quota was lowered, more may be granted already. */
  async grantedTooMuch(): Promise<string[]> {
    if (this.#isAnyLowered) return [];
    const violations: string[] = [];
    for (const { id, quota } of this.all) {
      const rows = await this.#ledger.engine.read`SELECT granted FROM quota_period WHERE account_id = ${id}`;
      for (const { granted } of rows) {
        if (Number(granted) > quota) violations.push(`${id} has ${granted} of ${quota} granted`);
      }
    }
    return violations;
  }
}
