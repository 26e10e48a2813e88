import type { SyncAnswer, SyncRequest } from '../../ledger/quota-rules.ts';
import type { Leftover } from '../spool/spool.ts';
import type { Lease } from './lease.ts';
import type { Party } from './syncer.ts';

/**
 * The end of a lease: what it spent is told to the ledger until the ledger has it, and only then is the spool's
 * record forgotten. A crash in between tells it once more, which is harmless.
 */
export class Settlement implements Party {
  readonly #message: SyncRequest;
  readonly #forget: () => void;

  private constructor(message: SyncRequest, forget: () => void) {
    this.#message = message;
    this.#forget = forget;
  }

  static of(lease: Lease): Settlement {
    return new Settlement(lease.closeMessage(), () => lease.forget());
  }

  /** Of a lease whose process is gone. Closing needs no seq, so it does not matter that it was lost. */
  static ofLeftover({ owner, spentBy, free }: Leftover): Settlement {
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
    return new Settlement(message, free);
  }

  message(): SyncRequest {
    return this.#message;
  }

  answered(_answer: SyncAnswer): void {
    this.#forget();
  }

  failed(): void {}
}
