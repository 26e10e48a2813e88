import type { SyncAnswer, SyncRequest } from '../../ledger/quota/model.ts';
import type { Leftover } from '../spool/spool.ts';
import type { Lease } from './lease.ts';
import type { Syncer, SyncParty } from './syncer.ts';
import type { LedgerTime } from './timing/ledger-time.ts';

/**
 * The closed leases. A ledger that fails over to an asynchronous standby loses its last seconds, including what was
 * settled in them. So a settled lease stays in the spool for a while and can be reported again:
 *
 *     closed ─► sent until acknowledged ─► kept for `keepMs` ─► erased from the spool
 *                       ▲                       │
 *                       └── ledger lost it ─────┘
 */
export class Settlements {
  readonly #syncer: Syncer;
  readonly #time: LedgerTime;
  readonly #keepMs: number;
  /** When each was settled, on the monotonic clock, the oldest first. */
  readonly #settled = new Map<Settlement, number>();

  constructor(syncer: Syncer, time: LedgerTime, keepMs: number) {
    this.#syncer = syncer;
    this.#time = time;
    this.#keepMs = keepMs;
  }

  close(lease: Lease): void {
    this.#syncer.enqueue(new Settlement(lease.closeRequest(), () => lease.freeRecord(), this.#onAnswer));
  }

  closeLeftover(leftover: Leftover, replica: string, seq: number): void {
    const request = { ...adoptionOf(leftover, replica, seq), close: true };
    this.#syncer.enqueue(new Settlement(request, leftover.free, this.#onAnswer));
  }

  /** Reports the settled leases again, to a ledger that may have lost them. */
  sendAgain(): void {
    const settled = [...this.#settled.keys()];
    this.#settled.clear();
    for (const settlement of settled) this.#syncer.enqueue(settlement);
  }

  /** Erases what was settled at least `keepMs` ago; a clean shutdown passes 0. */
  erase(keepMs = this.#keepMs): void {
    const before = this.#time.read().mono - keepMs;
    for (const [settlement, at] of this.#settled) {
      if (at > before) return;
      this.#settled.delete(settlement);
      settlement.erase();
    }
  }

  readonly #onAnswer = (settlement: Settlement, answer: SyncAnswer): void => {
    if (answer.state === 'open') this.#syncer.enqueue(settlement.after(answer.seq));
    else if (this.#keepMs === 0) settlement.erase();
    else this.#settled.set(settlement, this.#time.read().mono);
  };
}

/**
 * The end of a lease: reports its counts until the ledger has acknowledged them. `Settlements` erases the spool's
 * record later. A crash in between repeats the report, which is harmless.
 */
class Settlement implements SyncParty {
  readonly #request: SyncRequest;
  readonly #onAnswer: (settlement: Settlement, answer: SyncAnswer) => void;
  /** Erases the spool's record. */
  readonly erase: () => void;

  constructor(
    request: SyncRequest,
    erase: () => void,
    onAnswer: (settlement: Settlement, answer: SyncAnswer) => void,
  ) {
    this.#request = request;
    this.erase = erase;
    this.#onAnswer = onAnswer;
  }

  /** The same with a higher number, for a lease that has a later message than this one. */
  after(seq: number): Settlement {
    return new Settlement({ ...this.#request, seq: seq + 1 }, this.erase, this.#onAnswer);
  }

  syncRequest(): SyncRequest {
    return this.#request;
  }

  onAnswer(answer: SyncAnswer): void {
    this.#onAnswer(this, answer);
  }

  onUnreachable(): void {}
}

/** Takes a lease over from a process that has died: `replica` becomes its holder. */
export function adoptionOf({ owner, spentBy }: Leftover, replica: string, seq: number): SyncRequest {
  const nothing = { want: 0, need: 0, least: 0, barrierSeen: 0 };
  return { ...owner, replica, spentBy, seq, ...nothing, close: false, adopt: true };
}
