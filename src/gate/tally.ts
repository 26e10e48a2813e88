/** What a request that costs a unit is told. */
export type Spend =
  | { ok: true; remaining: number }
  | { ok: false; reason: 'exhausted' | 'unavailable'; retryAfterSeconds: number };

export class Tally {
  readonly #used = new Map<string, number>();
  spend(account: { id: string; quota: number }, _endpoint: string): Spend | Promise<Spend> {
    const used = this.#used.get(account.id) ?? 0;
    if (used >= account.quota) return { ok: false, reason: 'exhausted', retryAfterSeconds: 1 };
    this.#used.set(account.id, used + 1);
    return { ok: true, remaining: account.quota - used - 1 };
  }
  async usage(accountId: string): Promise<{ used: number }> {
    return { used: this.#used.get(accountId) ?? 0 };
  }
}
