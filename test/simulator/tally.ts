import type { Lease } from '../../src/gate/meter/lease.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { Period } from '../../src/ledger/quota/period.ts';

/** From the documented guarantee, not from the code under test. */
const PROMISED_HOLD_MS = 15 * 60_000;

/** What really happened, recorded independently of the code under test. */
export class Tally {
  readonly #ledger: Ledger;
  readonly #leases = new Map<string, { key: string; admitted: number; answered: number; lost: boolean }>();
  /** Leases released after the hold, with the units admitted and the units known to be spent at that time. */
  readonly #released = new Map<string, { admitted: number; spent: number }>();
  /** The highest quota of each account. */
  readonly quotaMax = new Map<string, number>();
  readonly violations: string[] = [];

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  admitted(lease: Lease, units: number): void {
    const { leaseId, accountId, period } = lease;
    const seen = this.#leases.get(leaseId) ?? {
      key: keyOf(accountId, period),
      admitted: 0,
      answered: 0,
      lost: false,
    };
    seen.admitted += units;
    this.#leases.set(leaseId, seen);
  }

  answered(leaseId: string, units: number): void {
    this.#leases.get(leaseId)!.answered += units;
  }

  /** The sums of an account as they are now, by period. */
  snapshot(what: 'admitted' | 'answered', accountId: string): Map<Period, number> {
    const periods = [...this.#leases.values()].flatMap(({ key }) =>
      key.startsWith(`${accountId} `) ? Number(key.split(' ')[1]) : [],
    );
    return new Map([...new Set(periods)].map((period) => [period, this.sumOf(what, accountId, period)]));
  }

  sumOf(what: 'admitted' | 'answered', accountId: string, period: Period): number {
    let sum = 0;
    for (const lease of this.#leases.values()) {
      if (lease.key === keyOf(accountId, period)) sum += lease[what];
    }
    return sum;
  }

  /** Wraps a release, which must not touch a silent lease for 15 minutes after its expiry. */
  async aroundRelease(release: () => Promise<number>, ledgerNow: number): Promise<number> {
    const before = await this.#openLeases();
    const count = await release();
    if (count === 0) return 0;
    const after = new Set((await this.#openLeases()).map(({ id }) => id));
    for (const { id, spent, expiresAt } of before) {
      // A release before the end of the hold is no excuse: see #unreported.
      if (after.has(id) || ledgerNow < expiresAt + PROMISED_HOLD_MS) continue;
      this.#released.set(id, { admitted: this.#leases.get(id)?.admitted ?? 0, spent });
    }
    return count;
  }

  /** Call at the end, when every process has reported its usage. */
  async compare(ledgerJumped: boolean): Promise<void> {
    if (!ledgerJumped) this.#compareReleases();
    const periods = await this.#ledger.engine.read`SELECT account_id, period, used FROM quota_period`;
    for (const row of periods) this.#compareOne(String(row.account_id), Number(row.period), Number(row.used));
  }

  /** A released lease must never be spent from again. */
  #compareReleases(): void {
    for (const [id, { admitted }] of this.#released) {
      const now = this.#leases.get(id)?.admitted ?? 0;
      if (now > admitted)
        this.violations.push(`lease ${id} was spent from after its release: ${admitted} to ${now}`);
    }
  }

  #compareOne(accountId: string, period: Period, used: number): void {
    const admitted = this.sumOf('admitted', accountId, period);
    const answered = this.sumOf('answered', accountId, period);
    // What a silent host had spent but not reported when its lease was released: the only exception to the guarantee.
    const unreported = this.#unreported(accountId, period);
    const quota = this.quotaMax.get(accountId)!;
    const what = `${accountId} ${period}: quota ${quota}, admitted ${admitted}, answered ${answered}, used ${used}`;
    if (admitted > quota + unreported.released)
      this.violations.push(`over the quota: ${what}, released ${unreported.released}`);
    if (used > admitted) this.violations.push(`charged more than was admitted: ${what}`);
    if (used < admitted - unreported.lost)
      this.violations.push(`used is too low: ${what}, lost ${unreported.lost}`);
    if (answered - unreported.lost > used) this.violations.push(`answered more than used: ${what}`);
  }

  #unreported(accountId: string, period: Period): { released: number; lost: number } {
    let [released, lost] = [0, 0];
    for (const [id, lease] of this.#leases) {
      if (lease.key !== keyOf(accountId, period)) continue;
      const seen = this.#released.get(id);
      if (seen) released += lease.admitted - seen.spent;
      if (seen && lease.lost) lost += lease.admitted - seen.spent;
    }
    return { released, lost };
  }

  /** Marks the leases of a host that was lost with its disk. */
  lose(leaseIds: ReadonlySet<string>): void {
    for (const id of leaseIds) {
      const lease = this.#leases.get(id);
      if (lease) lease.lost = true;
    }
  }

  async #openLeases(): Promise<{ id: string; spent: number; expiresAt: number }[]> {
    const rows = await this.#ledger.engine.read`SELECT l.lease_id, l.spent, h.expires_at FROM quota_lease l
        LEFT JOIN quota_holder h ON h.replica = l.replica WHERE l.open = 1`;
    return rows.map((row) => ({
      id: String(row.lease_id),
      spent: Number(row.spent),
      expiresAt: Number(row.expires_at),
    }));
  }
}

function keyOf(accountId: string, period: Period): string {
  return `${accountId} ${period}`;
}
