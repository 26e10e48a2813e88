import type { SyncAnswer, SyncRequest } from '../../ledger/quota/model.ts';
import type { Leftover } from '../spool/spool.ts';
import type { QuotaHolder } from './holder.ts';
import { Lease } from './lease.ts';
import { adoptionOf, type Settlements } from './settlements.ts';
import type { Syncer, SyncParty } from './syncer.ts';
import type { LedgerTime } from './timing/ledger-time.ts';

export interface AdoptionOptions {
  syncer: Syncer;
  settlements: Settlements;
  holder: QuotaHolder;
  time: LedgerTime;
  /** Gives an account its lease. False when it has another one. */
  keep(lease: Lease): boolean;
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

  /** Queues what the ledger must be asked for. Leases of a past month, or in an older file, are closed. */
  adopt(leftovers: readonly Leftover[]): void {
    const { holder, settlements, syncer, time } = this.#options;
    const { replica } = holder;
    for (const leftover of leftovers) {
      const isUsable = leftover.record !== undefined && leftover.owner.period === time.period();
      if (isUsable) syncer.enqueue(new Adoption(leftover, replica, this.#onAnswer));
      else settlements.closeLeftover(leftover, replica);
    }
  }

  readonly #onAnswer = (leftover: Leftover, replica: string, answer: SyncAnswer): void => {
    const { holder, settlements, keep } = this.#options;
    const { owner, record } = leftover;
    if (answer.state !== 'open' || replica !== holder.replica) {
      settlements.closeLeftover(leftover, replica);
      return;
    }
    const lease = Lease.adopted({ ...owner, replica }, record!, holder.validity, answer);
    if (!keep(lease)) settlements.close(lease);
  };
}

class Adoption implements SyncParty {
  readonly #leftover: Leftover;
  readonly #replica: string;
  readonly #onAnswer: (leftover: Leftover, replica: string, answer: SyncAnswer) => void;

  constructor(
    leftover: Leftover,
    replica: string,
    onAnswer: (leftover: Leftover, replica: string, answer: SyncAnswer) => void,
  ) {
    this.#leftover = leftover;
    this.#replica = replica;
    this.#onAnswer = onAnswer;
  }

  syncRequest(): SyncRequest {
    return adoptionOf(this.#leftover, this.#replica);
  }

  onAnswer(answer: SyncAnswer): void {
    this.#onAnswer(this.#leftover, this.#replica, answer);
  }

  onUnreachable(): void {}
}
