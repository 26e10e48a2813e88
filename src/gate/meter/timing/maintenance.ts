import type { Spool } from '../../spool/spool.ts';
import type { QuotaHolder } from '../holder.ts';
import type { MeteredAccounts } from '../metered-accounts.ts';
import type { QuotaCalls } from '../options.ts';
import type { Settlements } from '../settlements.ts';
import type { Syncer } from '../syncer.ts';
import type { ClockReading, LedgerTime } from './ledger-time.ts';
import type { MeterJobs } from './periodic-jobs.ts';

/** The parts of the meter that it maintains. */
export interface MaintainedParts {
  quota: QuotaCalls;
  time: LedgerTime;
  spool: Spool;
  holder: QuotaHolder;
  accounts: MeteredAccounts;
  syncer: Syncer;
  settlements: Settlements;
}

/** What a meter does without a request: it answers other replicas, reports counts, and settles what ended processes left. */
export class MeterMaintenance implements MeterJobs {
  readonly #parts: MaintainedParts;

  constructor(parts: MaintainedParts) {
    this.#parts = parts;
  }

  /** Reads whether another replica requests counts (a barrier) or units (a recall). */
  async readSignals(): Promise<void> {
    const { accounts, syncer, quota, holder } = this.#parts;
    if (accounts.isEmpty || syncer.isDown) return;
    for (const signal of await quota.signals(holder.replica)) {
      accounts.get(signal.accountId)?.onSignal(signal);
    }
  }

  /** Reports what was spent. */
  async report(): Promise<void> {
    const { accounts, syncer, time } = this.#parts;
    for (const account of accounts.takeDue(time.read().mono)) syncer.enqueue(account);
  }

  /** Returns the leases of a past month, renews this process's right to spend, and keeps records of the spool free. */
  async renew(): Promise<void> {
    const { accounts, syncer, settlements, holder, time, spool } = this.#parts;
    settlements.erase();
    // Before the first `await`: after it, the meter may be closed and another process may own the slot.
    spool.reserveAhead();
    if (time.period() !== holder.validity.period) await this.#endMonth(time.read());
    if (!accounts.isEmpty && !syncer.isDown) await holder.renew();
  }

  /** A process that is alone leases units for accounts that were used in the last month, or thousands would wait. */
  async #endMonth(now: ClockReading): Promise<void> {
    const { accounts, syncer, holder } = this.#parts;
    if (accounts.isEmpty) return;
    const isAlone = !syncer.isDown && (await holder.isAlone().catch(() => false));
    accounts.endMonth(now, isAlone);
  }

  /** Settles the spools of processes of this machine that died, releases what lost hosts held, and folds or deletes old leases. */
  async sweep(): Promise<void> {
    const { spool, settlements, holder, quota, time } = this.#parts;
    const [{ replica }, seq] = [holder, Math.floor(time.now())];
    for (const leftover of spool.adopt()) settlements.closeLeftover(leftover, replica, seq);
    await quota.releaseLost();
    await quota.foldSettled();
    await quota.deleteUnused();
  }
}
