import type { Period } from '../../ledger/quota/period.ts';
import type { Signal } from '../../ledger/quota/quota.ts';
import type { SyncAnswer, SyncRequest } from '../../ledger/quota/rules.ts';
import type { ClockReading, Lease } from './lease.ts';
import type { QuotaRefusal, Spend } from './spend.ts';
import type { SyncParty } from './syncer.ts';

/** How long a request waits for units that other replicas hold. */
const RECALL_WAIT_MS = 1_000;
/** How often it asks meanwhile: holders look every 100 ms. */
const RECALL_RETRY_MS = 50;
/** After a refusal the ledger is asked at most this often: a draining replica may give units back. */
const ASK_AGAIN_MS = 1_000;

/** What a purse needs of the replica around it. */
export interface AccountLeaseHost {
  now(): ClockReading;
  /** The month, by the ledger's time. */
  period(): Period;
  /** Undefined when the spool has no room for it: nothing can be counted then. */
  openLease(accountId: string): Lease | undefined;
  /** Closes a lease at what it has spent, and forgets it when the ledger has that. */
  closeLease(lease: Lease): void;
  ask(party: SyncParty, urgent: boolean): void;
  after(ms: number, call: () => void): void;
  exhausted(): QuotaRefusal;
  unavailable(): QuotaRefusal;
}

interface Waiting {
  place: number;
  units: number;
  resolve: (spend: Spend) => void;
}

/** What this replica holds for one account: its lease, and the requests that wait for one. */
export class AccountLease implements SyncParty {
  readonly #accountId: string;
  readonly #replica: AccountLeaseHost;
  lease: Lease | undefined;
  #waiting: Waiting[] = [];
  /** Since when requests wait for units that others hold. */
  #drySince: number | undefined;
  /** The smallest request that was refused, until one as large is served. Before `until` none as large asks the ledger. */
  #refused: { units: number; until: number } | undefined;
  #recallSeen = 0;

  constructor(accountId: string, replica: AccountLeaseHost) {
    this.#accountId = accountId;
    this.#replica = replica;
  }

  get isBusy(): boolean {
    return this.#waiting.length > 0;
  }

  /** For a request that found too few units: waits for the ledger, unless its answer is known. */
  wait(place: number, units: number): Spend | Promise<Spend> {
    const now = this.#replica.now();
    if (this.#wasRefused(units, now.mono) && this.lease && !this.lease.hasEnded(now)) {
      return this.#replica.exhausted();
    }
    return new Promise((resolve) => {
      this.#waiting.push({ place, units, resolve });
      this.#replica.ask(this, true);
    });
  }

  message(now: ClockReading): SyncRequest | undefined {
    if (this.lease?.hasEnded(now) && this.lease.period !== this.#replica.period()) this.closeLease();
    if (!this.lease && !this.isBusy) return undefined;
    this.lease ??= this.#replica.openLease(this.#accountId);
    if (this.lease) return this.lease.message(this.#unitsWaiting(), now);
    this.#refuse(this.#replica.unavailable());
    return undefined;
  }

  answered(answer: SyncAnswer, sent: ClockReading): void {
    const { lease } = this;
    if (!lease || lease.owner.leaseId !== answer.leaseId) {
      if (this.isBusy) this.#replica.ask(this, true);
      return;
    }
    const barrierSeen = lease.barrierSeen;
    lease.apply(answer, sent);
    if (answer.state !== 'open') this.closeLease();
    this.#serve();
    if (this.isBusy) this.#keepWaiting(answer);
    else if (answer.barrier > barrierSeen || lease.recalled) this.#replica.ask(this, true);
  }

  failed(): void {
    this.#refuse(this.#replica.unavailable());
  }

  /** Another replica wants to know what is spent, or wants units. */
  heard(signal: Signal): void {
    const { lease } = this;
    if (lease?.period !== signal.period) return;
    const recalled = signal.recallAt > this.#recallSeen && lease.unspent > 0;
    this.#recallSeen = Math.max(this.#recallSeen, signal.recallAt);
    if (!recalled && signal.barrier <= lease.barrierSeen) return;
    lease.recalled ||= recalled;
    lease.barrierSeen = Math.max(lease.barrierSeen, signal.barrier);
    this.#replica.ask(this, true);
  }

  closeLease(): void {
    if (!this.lease) return;
    this.#replica.closeLease(this.lease);
    this.lease = undefined;
  }

  /** The replica stops: who waits is refused, and the lease goes back. */
  end(): void {
    this.#refuse(this.#replica.unavailable());
    this.closeLease();
  }

  #serve(): void {
    const { wall, mono } = this.#replica.now();
    this.#waiting = this.#waiting.filter(({ place, units, resolve }) => {
      if (!this.lease?.take(place, units, wall, mono)) return true;
      if (this.#refused && units >= this.#refused.units) this.#refused = undefined;
      this.#drySince = undefined;
      resolve(this.lease);
      return false;
    });
  }

  /** Requests are left without their units: ask again, wait for other replicas to return theirs, or refuse. */
  #keepWaiting(answer: SyncAnswer): void {
    const { lease } = this;
    const { mono } = this.#replica.now();
    const { least } = this.#unitsWaiting();
    if (!lease || !answer.applied || lease.unspent + answer.pool >= least) {
      this.#replica.ask(this, true);
      return;
    }
    this.#drySince ??= mono;
    const wasRefused = this.#wasRefused(least, Number.NEGATIVE_INFINITY);
    if (answer.heldByOthers === 0 || wasRefused || mono - this.#drySince >= RECALL_WAIT_MS) {
      this.#drySince = undefined;
      this.#refused = { units: least, until: mono + ASK_AGAIN_MS };
      this.#refuse(this.#replica.exhausted());
      if (lease.unspent > 0) this.#replica.ask(this, false); // returns what is left of the grant
      return;
    }
    this.#replica.after(RECALL_RETRY_MS, () => {
      if (this.isBusy) this.#replica.ask(this, true);
    });
  }

  /** What requests wait for: in all, and the smallest of them. */
  #unitsWaiting(): { units: number; least: number } {
    let [all, least] = [0, Number.POSITIVE_INFINITY];
    for (const { units } of this.#waiting) {
      all += units;
      least = Math.min(least, units);
    }
    return { units: all, least: all === 0 ? 0 : least };
  }

  /** Whether a request of this size or a smaller one was refused, and that refusal holds at `mono`. */
  #wasRefused(units: number, mono: number): boolean {
    return this.#refused !== undefined && units >= this.#refused.units && mono < this.#refused.until;
  }

  #refuse(refusal: QuotaRefusal): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve(refusal);
  }
}
