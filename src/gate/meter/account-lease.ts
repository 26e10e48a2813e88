import type { SyncAnswer, SyncRequest } from '../../ledger/quota/model.ts';
import type { Period } from '../../ledger/quota/period.ts';
import type { Signal } from '../../ledger/quota/signals.ts';
import { NO_PLACE, type Reported } from '../report-rounds.ts';
import type { Lease } from './lease.ts';
import type { QuotaRefusal, Spend } from './spend.ts';
import type { SyncParty } from './syncer.ts';
import type { ClockReading } from './timing/ledger-time.ts';
import type { KnownUsage } from './usage-reader.ts';

/** How long a request waits for units that other replicas hold. */
const RECALL_WAIT_MS = 1_000;
/** How often it asks the ledger meanwhile: holders read their signals every 100 ms. */
const RECALL_RETRY_MS = 50;
/** After a refusal the ledger is asked at most this often: a draining replica may return units. */
const ASK_AGAIN_MS = 1_000;

/** What an account's lease needs from the meter. */
export interface AccountLeaseHost {
  now(): ClockReading;
  /** The month, by the ledger's time. */
  period(): Period;
  /** Undefined when the spool has no room: nothing can be counted then. */
  openLease(accountId: string): Lease | undefined;
  /** Settles a lease at what it has spent. */
  closeLease(lease: Lease): void;
  /** Units were spent: a report is due at the next flush. */
  markDirty(account: AccountLease): void;
  /** Queues a sync with the ledger. */
  enqueue(party: SyncParty, urgent: boolean): void;
  after(ms: number, callback: () => void): void;
  exhausted(): QuotaRefusal;
  unavailable(): QuotaRefusal;
}

interface WaitingRequest {
  counter: number;
  units: number;
  resolve: (spend: Spend) => void;
}

const NONE: WaitingRequest[] = [];

/** An account whose requests are counted. */
export interface MeteredAccount {
  readonly id: string;
  /**
   * The lease that a meter last found for it, so that counting a request needs no lookup. It may have ended: nothing can be
   * taken from it then. Only the meter reads it.
   */
  lease?: Lease | undefined;
}

/** One account on this replica: its lease, and the requests that wait for units. */
export class AccountLease implements SyncParty, Reported {
  readonly accountId: string;
  readonly #host: AccountLeaseHost;
  lease: Lease | undefined;
  /** Most accounts never wait, so they have no list of their own. */
  #waiting = NONE;
  /** Since when requests wait for units that others hold. */
  #drySince: number | undefined;
  /** The smallest refused request, until one of that size succeeds. Before `until`, requests of that size do not call the ledger. */
  #refused: { units: number; until: number; refusal: QuotaRefusal } | undefined;
  #recallSeen = 0;
  reportPlace = NO_PLACE;

  constructor(accountId: string, host: AccountLeaseHost) {
    this.accountId = accountId;
    this.#host = host;
  }

  get isBusy(): boolean {
    return this.#waiting.length > 0;
  }

  /** The usage as of the last answer of the ledger; undefined without a lease. */
  get usage(): KnownUsage | undefined {
    if (!this.lease) return undefined;
    const { period, quota, remaining, asOf } = this.lease;
    return { period, used: quota - remaining, quota, asOf, exact: false };
  }

  /** Whether the lease ended with its month. */
  isMonthOver(now: ClockReading): boolean {
    if (!this.lease?.hasEnded(now)) return false;
    return this.lease.period !== this.#host.period();
  }

  /** Queues a request that found too few units, unless a recent refusal already answers it. */
  wait(counter: number, units: number): Spend | Promise<Spend> {
    const now = this.#host.now();
    const refused = this.#refusedBefore(units);
    if (refused && now.mono < refused.until && this.lease && !this.lease.hasEnded(now))
      return refused.refusal;
    return new Promise((resolve) => {
      if (this.#waiting === NONE) this.#waiting = [];
      this.#waiting.push({ counter, units, resolve });
      this.#host.enqueue(this, true);
    });
  }

  /** Requests a lease that no request waits for yet. Does nothing when there is one, or no room for it. */
  leaseAhead(): void {
    if (this.lease || this.isBusy) return;
    this.lease = this.#host.openLease(this.accountId);
    if (this.lease) this.#host.enqueue(this, false);
  }

  syncRequest(now: ClockReading): SyncRequest | undefined {
    if (this.isMonthOver(now)) this.closeLease();
    if (!this.lease && !this.isBusy) return undefined;
    this.lease ??= this.#host.openLease(this.accountId);
    if (this.lease) return this.lease.syncRequest(this.#unitsWaiting());
    this.#refuse(this.#host.unavailable());
    return undefined;
  }

  onAnswer(answer: SyncAnswer): void {
    const { lease } = this;
    if (!lease || lease.leaseId !== answer.leaseId) {
      if (this.isBusy) this.#host.enqueue(this, true);
      return;
    }
    const barrierSeen = lease.barrierSeen;
    lease.apply(answer);
    if (answer.state !== 'open' || lease.isFull) this.closeLease();
    this.#serve();
    if (this.isBusy) this.#keepWaiting(answer);
    else if (answer.barrier > barrierSeen || lease.recalled) this.#host.enqueue(this, true);
    if (lease.hasReachedThreshold(answer)) this.#host.enqueue(this, false);
  }

  onUnreachable(): void {
    this.#refuse(this.#host.unavailable());
  }

  /** Another replica requests this one's count (a barrier) or units (a recall). */
  onSignal(signal: Signal): void {
    const { lease } = this;
    if (lease?.period !== signal.period) return;
    const isRecall = signal.recallAt > this.#recallSeen;
    this.#recallSeen = Math.max(this.#recallSeen, signal.recallAt);
    // Without units to return, the count is reported: the ledger still counts those units as held.
    if (!(isRecall && (lease.unspent > 0 || lease.isDirty)) && signal.barrier <= lease.barrierSeen) return;
    lease.recalled ||= isRecall && lease.unspent > 0;
    lease.barrierSeen = Math.max(lease.barrierSeen, signal.barrier);
    this.#host.enqueue(this, true);
  }

  closeLease(): void {
    if (!this.lease) return;
    this.#host.closeLease(this.lease);
    this.lease = undefined;
  }

  /** The replica stops: refuses the waiting requests and returns the lease. */
  end(): void {
    this.#refuse(this.#host.unavailable());
    this.closeLease();
  }

  #serve(): void {
    const { wall, mono } = this.#host.now();
    const waiting = this.#waiting.filter(({ counter, units, resolve }) => {
      if (!this.lease?.take(counter, units, wall, mono)) return true;
      if (this.#refused && units >= this.#refused.units) this.#refused = undefined;
      this.#drySince = undefined;
      if (!this.lease.isDirty) this.#host.markDirty(this);
      resolve(this.lease);
      return false;
    });
    this.#waiting = waiting.length > 0 ? waiting : NONE;
  }

  /** Some requests still lack units: ask again, wait for other replicas to return theirs, or refuse. */
  #keepWaiting(answer: SyncAnswer): void {
    const { lease } = this;
    const { mono } = this.#host.now();
    const { least } = this.#unitsWaiting();
    if (!lease || !answer.applied || lease.unspent + answer.pool >= least) {
      this.#host.enqueue(this, true);
      return;
    }
    this.#drySince ??= mono;
    const before = this.#refusedBefore(least);
    // What is left of a month only decreases: a request that was too large stays so, whatever others hold unreported.
    const isExhausted =
      lease.unspent + answer.pool + answer.heldByOthers < least || before?.refusal.reason === 'exhausted';
    if (isExhausted || before || mono - this.#drySince >= RECALL_WAIT_MS) {
      this.#drySince = undefined;
      // Nobody knows what a holder that does not return its units has spent of them.
      const refusal = isExhausted ? this.#host.exhausted() : this.#host.unavailable();
      this.#refused = { units: least, until: mono + ASK_AGAIN_MS, refusal };
      this.#refuse(refusal);
      if (lease.unspent > 0) this.#host.enqueue(this, false); // returns the rest of the grant
      return;
    }
    this.#host.after(RECALL_RETRY_MS, () => {
      if (this.isBusy) this.#host.enqueue(this, true);
    });
  }

  /** The units that requests wait for: in total, and the smallest request. */
  #unitsWaiting(): { units: number; least: number } {
    let [all, least] = [0, Number.POSITIVE_INFINITY];
    for (const { units } of this.#waiting) {
      all += units;
      least = Math.min(least, units);
    }
    return { units: all, least: all === 0 ? 0 : least };
  }

  /** The refusal of a request of this size or smaller, if none of that size has succeeded since. */
  #refusedBefore(units: number) {
    return this.#refused && units >= this.#refused.units ? this.#refused : undefined;
  }

  #refuse(refusal: QuotaRefusal): void {
    const waiting = this.#waiting;
    this.#waiting = NONE;
    for (const { resolve } of waiting) resolve(refusal);
  }
}
