import type { SyncAnswer, SyncRequest } from '../../ledger/quota/model.ts';
import type { Leftover } from '../spool/spool.ts';
import type { Lease } from './lease.ts';
import type { SyncParty } from './syncer.ts';

/**
 * The end of a lease: reports its counts until the ledger has acknowledged them. `Settlements` erases the spool's
 * record later. A crash in between repeats the report, which is harmless.
 */
export class Settlement implements SyncParty {
  readonly #request: SyncRequest;
  readonly #onSettled: (settlement: Settlement) => void;
  /** Erases the spool's record. */
  readonly erase: () => void;

  private constructor(request: SyncRequest, erase: () => void, onSettled: (one: Settlement) => void) {
    this.#request = request;
    this.erase = erase;
    this.#onSettled = onSettled;
  }

  static of(lease: Lease, onSettled: (one: Settlement) => void): Settlement {
    return new Settlement(lease.closeRequest(), () => lease.freeRecord(), onSettled);
  }

  /** For a lease whose process has died. Closing needs no seq, which was lost with it. */
  static ofLeftover({ owner, spentBy, free }: Leftover, onSettled: (one: Settlement) => void): Settlement {
    const request = {
      ...owner,
      spentBy,
      seq: 0,
      want: 0,
      need: 0,
      least: 0,
      barrierSeen: 0,
      close: true,
    };
    return new Settlement(request, free, onSettled);
  }

  syncRequest(): SyncRequest {
    return this.#request;
  }

  onAnswer(_answer: SyncAnswer): void {
    this.#onSettled(this);
  }

  onUnreachable(): void {}
}
