import type { Clock } from '../clock.ts';

/** What a request that costs a unit is told. */
export type Spend =
  | { ok: true; remaining: number }
  | { ok: false; reason: 'exhausted' | 'unavailable'; retryAfterSeconds: number };

export class Tally {
  readonly #clock: Clock;
  readonly #used = new Map<string, number>();
  constructor(clock: Clock) {
    this.#clock = clock;
  }
  spend(account: { id: string; quota: number }, _endpoint: string): Spend | Promise<Spend> {
    const used = this.#used.get(account.id) ?? 0;
    if (used >= account.quota) return { ok: false, reason: 'exhausted', retryAfterSeconds: 1 };
    this.#used.set(account.id, used + 1);
    return { ok: true, remaining: account.quota - used - 1 };
  }
  remaining({ id, quota }: { id: string; quota: number }): number {
    return quota - (this.#used.get(id) ?? 0);
  }
  resetsAt(): number {
    const date = new Date(this.#clock.now());
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  }
  async usage(accountId: string): Promise<{ used: number }> {
    return { used: this.#used.get(accountId) ?? 0 };
  }
}
