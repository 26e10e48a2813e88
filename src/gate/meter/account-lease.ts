import type { SyncAnswer, SyncRequest } from '../../ledger/quota/model.ts';
import type { Period } from '../../ledger/quota/period.ts';
import type { Signal } from '../../ledger/quota/signals.ts';
import type { Scheduler } from '../../runtime/scheduler.ts';
import { NO_PLACE, type Reported, type ReportRounds } from '../report-rounds.ts';
import type { PendingAdoptions } from './adoption/pending-adoptions.ts';
import type { Lease } from './lease.ts';
import type { LeaseFactory } from './lease-factory.ts';
import type { Settlements } from './settlements.ts';
import { exhausted, type QuotaRefusal, type Spend, UNAVAILABLE } from './spend.ts';
import type { Syncer, SyncParty } from './syncer.ts';
import type { ClockReading, LedgerTime } from './timing/ledger-time.ts';

/** How long a request waits for units that other replicas hold. */
const RECALL_WAIT_MS = 1_000;
/** How often it asks the ledger meanwhile: holders read their signals every 100 ms. */
const RECALL_RETRY_MS = 50;
/** After a refusal the ledger is asked at most this often: a draining replica may return units. */
const ASK_AGAIN_MS = 1_000;
/** A replica that did not return units in time is not waited for again for this long, but asked. */
const SILENT_MS = 10_000;

/** The parts of the meter that all accounts share. */
export interface AccountLeaseParts {
  time: LedgerTime;
  scheduler: Scheduler;
  leases: LeaseFactory;
  settlements: Settlements;
  syncer: Syncer;
  adoptions: PendingAdoptions;
  /** The accounts with counts that the ledger does not know yet. */
  dirty: ReportRounds<AccountLease>;
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

export interface KnownUsage {
  /** The month. */
  period: Period;
  used: number;
  quota: number;
  /** The ledger's time at which `used` was right. */
  asOf: number;
  /** Whether `used` includes everything that any replica spent before the call. */
  exact: boolean;
}

/** One account on this replica: its lease, and the requests that wait for units. */
export class AccountLease implements SyncParty, Reported {
  readonly accountId: string;
  readonly #parts: AccountLeaseParts;
  lease: Lease | undefined;
  /** Most accounts never wait, so they have no list of their own. */
  #waiting = NONE;
  /** Since when requests wait for units that others hold. */
  #drySince: number | undefined;
  /**
   * The smallest refused request, until one of that size succeeds or the quota is raised. Before `until`, requests of that size
   * do not call the ledger.
   */
  #refused: { units: number; until: number; refusal: QuotaRefusal } | undefined;
  #recallSeen = 0;
  reportPlace = NO_PLACE;

  constructor(accountId: string, parts: AccountLeaseParts) {
    this.accountId = accountId;
    this.#parts = parts;
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
    return this.lease.period !== this.#parts.time.period();
  }

  /** Queues a request that found too few units, unless a recent refusal already answers it. */
  wait(counter: number, units: number): Spend | Promise<Spend> {
    const now = this.#parts.time.read();
    const refused = this.#refusedBefore(units);
    if (refused && now.mono < refused.until && this.lease && !this.lease.hasEnded(now))
      return refused.refusal;
    return new Promise((resolve) => {
      if (this.#waiting === NONE) this.#waiting = [];
      this.#waiting.push({ counter, units, resolve });
      if (!this.#parts.adoptions.hasten(this.accountId)) this.#parts.syncer.enqueue(this, true);
    });
  }

  /** Requests a lease that no request waits for yet. Does nothing when there is one, or no room for it. */
  leaseAhead(): void {
    if (this.lease || this.isBusy || this.#isAdopting) return;
    this.lease = this.#parts.leases.open(this.accountId);
    if (this.lease) this.#parts.syncer.enqueue(this);
  }

  syncRequest(now: ClockReading): SyncRequest | undefined {
    if (this.isMonthOver(now)) this.closeLease();
    if (!this.lease && (!this.isBusy || this.#isAdopting)) return undefined;
    this.lease ??= this.#parts.leases.open(this.accountId);
    if (this.lease) return this.lease.syncRequest(this.#unitsWaiting());
    this.#refuse(UNAVAILABLE);
    return undefined;
  }

  onAnswer(answer: SyncAnswer): void {
    const { lease } = this;
    if (!lease || lease.leaseId !== answer.leaseId) {
      if (this.isBusy) this.#parts.syncer.enqueue(this, true);
      return;
    }
    const { barrierSeen } = lease;
    if (answer.quota > lease.quota) this.#refused = undefined;
    lease.apply(answer);
    if (answer.state !== 'open' || lease.isFull) this.closeLease();
    this.#serve();
    if (this.isBusy) this.#keepWaiting(answer);
    // The ledger ignores a repeated message, but it may report more than the first one, whose answer was lost.
    else if (!answer.applied || answer.barrier > barrierSeen || lease.recalled)
      this.#parts.syncer.enqueue(this, true);
    if (lease.hasReachedThreshold(answer)) this.#parts.syncer.enqueue(this);
  }

  onUnreachable(): void {
    this.#refuse(UNAVAILABLE);
  }

  /** The leases that a dead process left were adopted or closed. */
  onAdopted(): void {
    this.#serve();
    if (this.isBusy || this.lease?.recalled) this.#parts.syncer.enqueue(this, true);
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
    this.#parts.syncer.enqueue(this, true);
  }

  /** Units were spent: a report is due at the next flush. */
  markDirty(): void {
    this.lease!.isDirty = true;
    this.#parts.dirty.add(this);
  }

  closeLease(): void {
    if (!this.lease) return;
    this.#parts.settlements.close(this.lease);
    this.lease = undefined;
  }

  /** The replica stops: refuses the waiting requests and returns the lease. */
  end(): void {
    this.#refuse(UNAVAILABLE);
    this.closeLease();
  }

  get #isAdopting(): boolean {
    return this.#parts.adoptions.has(this.accountId);
  }

  #serve(): void {
    const { wall, mono } = this.#parts.time.read();
    const waiting = this.#waiting.filter(({ counter, units, resolve }) => {
      if (!this.lease?.take(counter, units, wall, mono)) return true;
      if (this.#refused && units >= this.#refused.units) this.#refused = undefined;
      this.#drySince = undefined;
      if (!this.lease.isDirty) this.markDirty();
      resolve(this.lease);
      return false;
    });
    this.#waiting = waiting.length > 0 ? waiting : NONE;
  }

  /** Some requests still lack units: ask again, wait for other replicas to return theirs, or refuse. */
  #keepWaiting(answer: SyncAnswer): void {
    const { lease } = this;
    const { mono } = this.#parts.time.read();
    const { least } = this.#unitsWaiting();
    if (!lease || !answer.applied || lease.unspent + answer.pool >= least) {
      this.#parts.syncer.enqueue(this, true);
      return;
    }
    this.#drySince ??= mono;
    const before = this.#refusedBefore(least);
    // The units left in a month only decrease, unless the quota is raised: a request that was too large once remains too large,
    // however many of the units that others hold are unreported.
    const isExhausted =
      lease.unspent + answer.pool + answer.heldByOthers < least || before?.refusal.reason === 'exhausted';
    if (isExhausted || before || mono - this.#drySince >= RECALL_WAIT_MS) {
      this.#drySince = undefined;
      // It is unknown how many of its units a holder has spent that does not return them.
      const refusal = isExhausted ? exhausted(this.#parts.time.secondsToReset()) : UNAVAILABLE;
      this.#refused = { units: least, until: mono + ASK_AGAIN_MS, refusal };
      this.#refuse(refusal);
      if (lease.unspent > 0) this.#parts.syncer.enqueue(this); // returns the rest of the grant
      return;
    }
    this.#parts.scheduler.after(RECALL_RETRY_MS, () => {
      if (this.isBusy) this.#parts.syncer.enqueue(this, true);
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

  /** The refusal of a request of this size or smaller, if it still stands. */
  #refusedBefore(units: number) {
    const refused = this.#refused;
    if (!refused || units < refused.units) return undefined;
    const isOver = this.#parts.time.read().mono >= refused.until + SILENT_MS;
    return isOver && refused.refusal === UNAVAILABLE ? undefined : refused;
  }

  #refuse(refusal: QuotaRefusal): void {
    const waiting = this.#waiting;
    this.#waiting = NONE;
    for (const { resolve } of waiting) resolve(refusal);
  }
}
