import type { SyncAnswer, SyncRequest } from '../../ledger/quota/rules.ts';
import type { Leftover } from '../spool/spool.ts';
import type { Lease } from './lease.ts';
import type { SyncParty } from './syncer.ts';

/**
 * The end of a lease: what it spent is told to the ledger until the ledger has it. Only some time later is the spool's
 * record erased (`Settlements`). A crash in between tells it once more, which is harmless.
 */
export class Settlement implements SyncParty {
  readonly #message: SyncRequest;
  readonly #onSettled: (settlement: Settlement) => void;
  /** Erases the spool's record. */
  readonly erase: () => void;

  private constructor(message: SyncRequest, erase: () => void, onSettled: (one: Settlement) => void) {
    this.#message = message;
    this.erase = erase;
    this.#onSettled = onSettled;
  }

  static of(lease: Lease, onSettled: (one: Settlement) => void): Settlement {
    return new Settlement(lease.closeMessage(), () => lease.forget(), onSettled);
  }

  /** Of a lease whose process is gone. Closing needs no seq, so it does not matter that it was lost. */
  static ofLeftover({ owner, spentBy, free }: Leftover, onSettled: (one: Settlement) => void): Settlement {
    const message = {
      ...owner,
      spentBy,
      seq: 0,
      want: 0,
      need: 0,
      least: 0,
      barrierSeen: 0,
      close: true,
    };
    return new Settlement(message, free, onSettled);
  }

  message(): SyncRequest {
    return this.#message;
  }

  answered(_answer: SyncAnswer): void {
    this.#onSettled(this);
  }

  failed(): void {}
}
