import type { SyncAnswer, SyncRequest } from '../../../ledger/quota/model.ts';
import type { Leftover } from '../../spool/spool.ts';
import type { QuotaHolder } from '../holder.ts';
import { Lease } from '../lease.ts';
import type { MeteredAccounts } from '../metered-accounts.ts';
import { adoptionOf, type Settlements } from '../settlements.ts';
import type { Syncer, SyncParty } from '../syncer.ts';
import type { LedgerTime } from '../timing/ledger-time.ts';
import type { PendingAdoptions } from './pending-adoptions.ts';

export interface AdoptionOptions {
  syncer: Syncer;
  settlements: Settlements;
  holder: QuotaHolder;
  time: LedgerTime;
  accounts: MeteredAccounts;
  pending: PendingAdoptions;
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

  /**
   * Takes over the leases of this month, those of accounts with waiting requests first. Leases of a past month, or in a file
   * of an older version, are closed. Resolves when the ledger has answered about all leases of this month.
   */
  async adopt(leftovers: readonly Leftover[]): Promise<void> {
    const { settlements, time, syncer, pending } = this.#options;
    const { replica } = this.#options.holder;
    // An estimate could be earlier than that of a process before this one, whose adoption may still arrive.
    const seq = Math.floor(time.observed);
    const period = time.period();
    const current = leftovers.filter(({ owner }) => owner.period === period);
    for (const leftover of current) {
      if (!leftover.record) settlements.closeLeftover(leftover, replica, seq);
    }
    await syncer.idle(); // the usage of their accounts includes them
    for (const leftover of current) {
      if (leftover.record) this.#ask(leftover, adoptionOf(leftover, replica, seq));
    }
    for (const leftover of leftovers) {
      if (leftover.owner.period !== period) settlements.closeLeftover(leftover, replica, seq);
    }
    await pending.whenEmpty();
  }

  #ask(leftover: Leftover, request: SyncRequest): void {
    const { syncer, pending, accounts } = this.#options;
    const { accountId } = leftover.owner;
    const adoption: SyncParty = {
      // It may be queued twice, with and without urgency.
      syncRequest: () => (pending.has(accountId, adoption) ? request : undefined),
      onAnswer: (answer) => {
        this.#onAnswer(leftover, request, answer);
        pending.remove(accountId, adoption);
        if (!pending.has(accountId)) accounts.get(accountId)?.onAdopted();
      },
      onUnreachable: () => accounts.get(accountId)?.onUnreachable(),
    };
    pending.add(accountId, adoption);
    syncer.enqueue(adoption);
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
