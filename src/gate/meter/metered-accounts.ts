import { ReportRounds } from '../report-rounds.ts';
import { AccountLease, type AccountLeaseParts } from './account-lease.ts';
import type { Lease } from './lease.ts';
import type { ClockReading } from './timing/ledger-time.ts';

/** The accounts whose requests this process counts. A dirty one has counts that the ledger does not know yet. */
export class MeteredAccounts {
  readonly #parts: AccountLeaseParts;
  readonly #accounts = new Map<string, AccountLease>();
  #isClosed = false;

  constructor(parts: Omit<AccountLeaseParts, 'dirty'>, flushMs: number) {
    this.#parts = { ...parts, dirty: new ReportRounds(flushMs) };
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get isEmpty(): boolean {
    return this.#accounts.size === 0;
  }

  get(accountId: string): AccountLease | undefined {
    return this.#accounts.get(accountId);
  }

  values(): Iterable<AccountLease> {
    return this.#accounts.values();
  }

  getOrAdd(accountId: string): AccountLease {
    return this.#accounts.getOrInsertComputed(accountId, (id) => new AccountLease(id, this.#parts));
  }

  /**
   * Gives an account the lease that an earlier process left. Returns false if the account has leased again meanwhile, as it
   * keeps one lease, or if this process stops.
   */
  keepAdopted(lease: Lease): boolean {
    if (this.#isClosed) return false;
    const account = this.getOrAdd(lease.accountId);
    if (account.lease) return false;
    account.lease = lease;
    return true;
  }

  /** A lease has counts that the ledger does not know yet, or needs more units. */
  prepareSync(lease: Lease): void {
    const account = this.#accounts.get(lease.accountId)!;
    if (!lease.isDirty) account.markDirty();
    if (lease.spent < lease.refillAt) return;
    lease.refillAt = Number.POSITIVE_INFINITY;
    this.#parts.syncer.enqueue(account);
  }

  /** The accounts whose report is due. */
  takeDue(mono: number): AccountLease[] {
    return this.#parts.dirty.takeDue(mono).filter(({ lease }) => lease?.isDirty);
  }

  /** Leases units for accounts before their first requests. */
  leaseAhead(accountIds: Iterable<string>): void {
    for (const id of accountIds) this.getOrAdd(id).leaseAhead();
  }

  closeLeases(): void {
    for (const account of this.#accounts.values()) account.closeLease();
  }

  /** The process stops: refuses the waiting requests and returns all leases. */
  close(): void {
    this.#isClosed = true;
    for (const account of this.#accounts.values()) account.end();
  }

  /** Returns the leases of a past month; with `renew`, accounts that used theirs lease units of the new month at once. */
  endMonth(now: ClockReading, renew: boolean): void {
    for (const [accountId, account] of this.#accounts) {
      if (account.isBusy) continue;
      if (account.isMonthOver(now)) {
        const isUsed = account.lease!.spent > 0;
        account.closeLease();
        if (renew && isUsed) account.leaseAhead();
      }
      if (!account.lease) this.#accounts.delete(accountId);
    }
  }
}
