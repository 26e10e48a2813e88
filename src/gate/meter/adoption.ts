import type { SyncAnswer, SyncRequest } from '../../ledger/quota/model.ts';
import type { Leftover } from '../spool/spool.ts';
import type { QuotaHolder } from './holder.ts';
import { Lease } from './lease.ts';
import type { MeteredAccounts } from './metered-accounts.ts';
import { adoptionOf, type Settlements } from './settlements.ts';
import type { Syncer } from './syncer.ts';
import type { LedgerTime } from './timing/ledger-time.ts';

export interface AdoptionOptions {
  syncer: Syncer;
  settlements: Settlements;
  holder: QuotaHolder;
  time: LedgerTime;
  accounts: MeteredAccounts;
}

/**
 * After a restart, takes over the leases of the last process on this spool: their accounts have no first request again. The
 * lock of the spool's slot proves that the last process has ended; what it sent may still arrive.
 */
export class Adoptions {
  readonly #options: AdoptionOptions;

  constructor(options: AdoptionOptions) {
    this.#options = options;
  }

  /** Queues the calls to the ledger. Leases of a past month, or in an older file, are closed. */
  adopt(leftovers: readonly Leftover[]): void {
    const { settlements, time } = this.#options;
    const { replica } = this.#options.holder;
    // An estimate could be earlier than that of a process before this one, whose adoption may still arrive.
    const seq = Math.floor(time.observed);
    for (const leftover of leftovers) {
      const isUsable = leftover.record !== undefined && leftover.owner.period === time.period();
      if (isUsable) this.#ask(leftover, adoptionOf(leftover, replica, seq));
      else settlements.closeLeftover(leftover, replica, seq);
    }
  }

  #ask(leftover: Leftover, request: SyncRequest): void {
    this.#options.syncer.enqueue({
      syncRequest: () => request,
      onAnswer: (answer) => this.#onAnswer(leftover, request, answer),
      onUnreachable() {},
    });
  }

  #onAnswer(leftover: Leftover, request: SyncRequest, answer: SyncAnswer): void {
    const { holder, settlements, accounts } = this.#options;
    const { replica } = request;
    const isOpen = answer.state === 'open';
    if (isOpen && !answer.applied) {
      this.#ask(leftover, { ...request, seq: answer.seq + 1 }); // the clock was set back since the last adoption
    } else if (isOpen && replica === holder.replica) {
      const lease = Lease.adopted({ ...leftover.owner, replica }, leftover.record!, holder.validity, answer);
      if (!accounts.keepAdopted(lease)) settlements.close(lease);
    } else settlements.closeLeftover(leftover, replica, answer.seq + 1);
  }
}
