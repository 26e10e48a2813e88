import { unitsToNextThreshold } from '../../ledger/quota/events.ts';
import type { SyncAnswer, SyncRequest } from '../../ledger/quota/model.ts';
import type { Period } from '../../ledger/quota/period.ts';
import { SpoolRecord } from '../spool/spool.ts';
import type { SpoolFile } from '../spool/spool-file.ts';
import { addCount, COUNT_MAX, type Owner } from '../spool/spool-record.ts';
import type { Validity } from './holder.ts';
import type { ClockReading } from './timing/ledger-time.ts';

/** A new block is requested when this share of the last one is unspent. */
const LOW_WATER = 1 / 4;

/**
 * A block of an account's quota that this replica may spend. It is also the result of a spend (`ok`, `remaining`), so
 * that counting a request allocates nothing. A process has thousands: what a spend reads comes first, in one or two cache lines,
 * and with more than 18 fields they would take 40 % more memory.
 */
export class Lease {
  spent = 0;
  /** Never more than the ledger granted; lowered before units are returned. */
  limit = 0;
  /** The quota less the best known `used`: below 0 after the quota was lowered. */
  remaining = 0;
  /** At this count the next sync is due: for a new block, or because a threshold of the quota is reached. */
  refillAt = Number.POSITIVE_INFINITY;
  /** Whether something was spent since the last report. */
  isDirty = false;
  readonly period: Period;
  /** The right of its holder to spend. */
  readonly validity: Validity;
  /** The spool's file with its counts, and where the first of them is. */
  readonly #file: SpoolFile;
  readonly #firstCountAt: number;

  quota = 0;
  readonly accountId: string;
  readonly leaseId: string;
  #seq = 0;
  #isAnswered = true;
  barrierSeen = 0;
  /** The barrier that the last request acknowledged. */
  #barrierSent = 0;
  /** Another replica waits for units. */
  recalled = false;
  /** The ledger's time of the last answer. */
  asOf = 0;

  constructor({ accountId, period, leaseId }: Owner, { file, index }: SpoolRecord, validity: Validity) {
    this.period = period;
    this.validity = validity;
    this.#file = file;
    this.#firstCountAt = file.firstCountAt(index);
    this.accountId = accountId;
    this.leaseId = leaseId;
  }

  /** A lease of a process that has died, with its record in the spool. `answer` is the ledger's to its adoption. */
  static adopted(owner: Owner, record: SpoolRecord, validity: Validity, answer: SyncAnswer): Lease {
    const lease = new Lease(owner, record, validity);
    lease.spent = Object.values(record.spentBy()).reduce((sum, count) => sum + count, 0);
    lease.#seq = answer.seq;
    lease.apply(answer);
    return lease;
  }

  get ok(): true {
    return true;
  }

  /** Units that can still be taken. */
  get unspent(): number {
    return this.limit - this.spent;
  }

  /**
   * Takes all of the units, or none when there are too few or the lease has ended. One store into the spool records
   * them, so a kill cannot split them. This is the hot path: keep it short.
   */
  take(counter: number, units: number, wall: number, mono: number): boolean {
    const { validity } = this;
    if (this.spent + units > this.limit || wall >= validity.wallEnd || mono >= validity.monoEnd) return false;
    if (this.period !== validity.period) return false;
    this.spent += units;
    this.remaining -= units;
    const { words, block } = this.#file;
    addCount(words, this.#firstCountAt + counter * block, units);
    return true;
  }

  hasEnded(now: ClockReading): boolean {
    return !this.validity.covers(this.period, now);
  }

  /** The spool's counts have a limited number of bits, so a lease is replaced long before they overflow. */
  get isFull(): boolean {
    return this.spent >= COUNT_MAX / 2;
  }

  /**
   * Reports the counts and requests units. A request without an answer is repeated under its own seq: if the ledger has
   * applied it, it ignores the repetition. Callers wait for `units` in total, the smallest of them for `least`.
   */
  syncRequest(waiting: { units: number; least: number }): SyncRequest {
    if (this.#isAnswered) this.#seq++;
    this.#isAnswered = false;
    this.isDirty = false;
    const need = this.spent + waiting.units;
    const least = this.spent + waiting.least;
    const want = this.recalled ? need : Number.MAX_SAFE_INTEGER;
    this.recalled = false;
    // Lower the limit before the units are returned, not after: the answer may be lost.
    this.limit = least > this.limit ? this.spent : Math.min(this.limit, want);
    return { ...this.#counted(), seq: this.#seq, want, need, least, close: false };
  }

  /** The last request: no unit can be taken after it. */
  closeRequest(): SyncRequest {
    this.limit = this.spent;
    return { ...this.#counted(), seq: this.#seq, want: 0, need: 0, least: 0, close: true };
  }

  /** Takes over the quota and what all other leases of the account have used, both from one read of the ledger. */
  update(quota: number, usedBeside: number): void {
    this.quota = quota;
    this.remaining = quota - usedBeside - this.spent;
  }

  /** Whether a threshold of the quota is reached that the ledger did not know of when it answered. */
  hasReachedThreshold(answer: SyncAnswer): boolean {
    return this.spent >= thresholdAt(answer);
  }

  /** Applies the ledger's answer. */
  apply(answer: SyncAnswer): void {
    this.#isAnswered = true;
    this.update(answer.quota, answer.used - answer.spent);
    // A lower barrier than the one sent comes from a ledger that has lost its last writes and counts up again.
    const isOlderLedger = answer.barrier < this.#barrierSent;
    this.barrierSeen = isOlderLedger ? answer.barrier : Math.max(this.barrierSeen, answer.barrier);
    this.asOf = answer.now;
    if (answer.state !== 'open') {
      this.limit = this.spent;
      return;
    }
    this.recalled = answer.recall && answer.granted > this.spent;
    this.limit = answer.granted;
    // An empty pool has nothing to grant, so the ledger is only asked when a request needs units.
    const low =
      answer.pool > 0 ? this.limit - Math.floor(this.unspent * LOW_WATER) : Number.POSITIVE_INFINITY;
    this.refillAt = Math.min(low, thresholdAt(answer));
  }

  /** Erases the spool's record. Only when the ledger has every count. */
  freeRecord(): void {
    this.#record.free();
  }

  get #record(): SpoolRecord {
    return new SpoolRecord(this.#file, this.#file.indexOf(this.#firstCountAt));
  }

  #counted(): Omit<SyncRequest, 'seq' | 'want' | 'need' | 'least' | 'close'> {
    this.#barrierSent = this.barrierSeen;
    return {
      accountId: this.accountId,
      period: this.period,
      leaseId: this.leaseId,
      replica: this.validity.replica,
      spentBy: this.#record.spentBy(),
      barrierSeen: this.barrierSeen,
    };
  }
}

/** The count of a lease at which the next threshold of the quota is reached, by what the ledger knows. */
function thresholdAt({ spent, used, quota }: SyncAnswer): number {
  return spent + unitsToNextThreshold(used, quota);
}
