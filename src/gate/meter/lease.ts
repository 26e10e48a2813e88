import { type Period, periodEnd } from '../../ledger/quota/period.ts';
import type { SyncAnswer, SyncRequest } from '../../ledger/quota/rules.ts';
import { spentByName } from '../endpoints.ts';
import type { SpoolRecord } from '../spool/spool.ts';
import { COUNT_MAX, type Owner, pack } from '../spool/spool-record.ts';
import { lowWater, Traffic, unspentWanted } from './block-size.ts';

/** A lease ends this much before the ledger says so: clocks of two machines do not run alike. */
const MARGIN_MS = 2_000;

/** The two clocks at one moment, in ms. The monotonic one stops while a virtual machine sleeps; the other may be set. */
export interface ClockReading {
  wall: number;
  mono: number;
}

/**
 * A block of an account's quota that this replica may spend. It is also what a spend answers with: `ok` and
 * `remaining` are read from it, so that counting a request allocates nothing.
 */
export class Lease {
  readonly ok = true;
  /** The quota less the best known `used`. */
  remaining = 0;
  quota = 0;

  readonly owner: Owner;
  readonly #record: SpoolRecord;
  readonly #counts: Float64Array;
  readonly #traffic: Traffic;

  spent = 0;
  /** Never more than the ledger granted; lowered before units are given back. */
  limit = 0;
  /** What the ledger has acknowledged. */
  flushed = 0;
  /** At this count the next block is asked for. */
  refillAt = Number.POSITIVE_INFINITY;
  #wallEnd = 0;
  #monoEnd = 0;
  #seq = 0;
  #answered = true;
  barrierSeen = 0;
  /** What the last message said of it. */
  #barrierSent = 0;
  /** Another replica waits for units. */
  recalled = false;
  lastSpendAt: number;
  lastAnswerAt = Number.NEGATIVE_INFINITY;
  /** The ledger's time of the last answer. */
  asOf = 0;

  constructor(owner: Owner, record: SpoolRecord, now: number) {
    this.owner = owner;
    this.#record = record;
    this.#counts = new Float64Array(record.counts.length);
    this.#traffic = new Traffic(now);
    this.lastSpendAt = now;
  }

  get period(): Period {
    return this.owner.period;
  }

  /** Units that can still be taken. */
  get unspent(): number {
    return this.limit - this.spent;
  }

  /**
   * Takes all of the units, or none when there are too few or the lease has expired. One store into the spool records
   * them, so a kill cannot split them. This is the hot path: keep it short.
   */
  take(place: number, units: number, wall: number, mono: number): boolean {
    if (this.spent + units > this.limit || wall >= this.#wallEnd || mono >= this.#monoEnd) return false;
    this.spent += units;
    this.remaining = this.remaining > units ? this.remaining - units : 0;
    const count = this.#counts[place]! + units;
    this.#counts[place] = count;
    this.#record.counts[place] = pack(count);
    this.lastSpendAt = mono;
    return true;
  }

  hasEnded(now: ClockReading): boolean {
    return now.wall >= this.#wallEnd || now.mono >= this.#monoEnd;
  }

  /** A count has so many bits in the spool; long before they run out the lease is changed for a new one. */
  get isFull(): boolean {
    return this.spent >= COUNT_MAX / 2;
  }

  /**
   * What to tell the ledger. While the last message has no answer, this one has its seq: the ledger may have applied
   * that one, and then ignores this. Requests wait for `units` in all, the smallest of them for `least`.
   */
  message(waiting: { units: number; least: number }, now: ClockReading): SyncRequest {
    if (this.#answered) this.#seq++;
    this.#answered = false;
    const need = this.spent + waiting.units;
    const least = this.spent + waiting.least;
    const { unspent } = this;
    const rate = this.#traffic.perSecond(this.spent, now.mono);
    const want = this.recalled ? need : need + unspentWanted(unspent, rate);
    this.recalled = false;
    // Lower the own limit before the units are given back, not after: the answer may be lost.
    this.limit = least > this.limit ? this.spent : Math.min(this.limit, want);
    return { ...this.#settlement(), seq: this.#seq, want, need, least, close: false };
  }

  /** The last message: no unit can be taken after it. */
  closeMessage(): SyncRequest {
    this.limit = this.spent;
    return { ...this.#settlement(), seq: this.#seq, want: 0, need: 0, least: 0, close: true };
  }

  /** Takes over the quota, and what all other leases of the account have used, as one read of the ledger told them. */
  learn(quota: number, usedBeside: number): void {
    this.quota = quota;
    this.remaining = Math.max(0, quota - usedBeside - this.spent);
  }

  /** Takes over what the ledger said. `sent` is from before the message left, so that a slow answer ends early. */
  apply(answer: SyncAnswer, sent: ClockReading): void {
    this.#answered = true;
    this.flushed = answer.spent;
    this.learn(answer.quota, answer.used - answer.spent);
    // A lower barrier than was sent comes from a ledger that has lost its last writes, and will count up again.
    const isOlderLedger = answer.barrier < this.#barrierSent;
    this.barrierSeen = isOlderLedger ? answer.barrier : Math.max(this.barrierSeen, answer.barrier);
    this.asOf = answer.now;
    this.lastAnswerAt = sent.mono;
    if (answer.state !== 'open') {
      this.limit = this.spent;
      return;
    }
    this.recalled = answer.recall && answer.granted > this.spent;
    this.limit = answer.granted;
    const untilMonthEnds = periodEnd(this.period) - answer.now;
    const goodForMs = Math.min(answer.leaseMs - MARGIN_MS, untilMonthEnds);
    this.#wallEnd = sent.wall + goodForMs;
    this.#monoEnd = sent.mono + goodForMs;
    const { unspent } = this;
    // With an empty pool there is nothing to ask for before a request needs it.
    this.refillAt = answer.pool > 0 ? this.limit - lowWater(unspent) : Number.POSITIVE_INFINITY;
  }

  /** Forgets the spool's record: only when the ledger has every spend. */
  forget(): void {
    this.#record.free();
  }

  #settlement(): Omit<SyncRequest, 'seq' | 'want' | 'need' | 'least' | 'close'> {
    this.#barrierSent = this.barrierSeen;
    return {
      ...this.owner,
      spentBy: spentByName(this.#record.endpoints, this.#counts),
      barrierSeen: this.barrierSeen,
    };
  }
}
