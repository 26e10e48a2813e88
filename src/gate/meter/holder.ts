import type { SpendingRight } from '../../ledger/quota/holders.ts';
import type { SyncAnswer, SyncRequest } from '../../ledger/quota/model.ts';
import { type Period, periodEnd, periodOf } from '../../ledger/quota/period.ts';
import type { QuotaStore } from '../../ledger/quota/quota.ts';
import { type Scheduler, withTimeout } from '../../runtime/scheduler.ts';
import type { ClockReading, LedgerTime } from './timing/ledger-time.ts';

export interface HolderOptions {
  calls: Pick<QuotaStore, 'sync' | 'renew' | 'leave'>;
  time: LedgerTime;
  scheduler: Scheduler;
  /** The first name of this process in the ledger, and the source of later ones. */
  replica: string;
  newId: () => string;
  /** All leases were released and must no longer be spent from. */
  onReleased(): void;
}

/** A process without anything to report renews its right to spend this often; it lasts for a minute. */
const RENEW_MS = 15_000;
const LEAVE_MS_MAX = 500;

/** The right to spend ends this much before the ledger's deadline: two machines' clocks do not run at the same rate. */
const MARGIN_MS = 2_000;

/** This process as a holder of leases: its name in the ledger, and its right to spend from all of its leases. */
export class QuotaHolder {
  readonly #options: HolderOptions;
  #validity: Validity;
  /** When the last call that got a reply was sent. */
  #contactAt = Number.NEGATIVE_INFINITY;

  constructor(options: HolderOptions) {
    this.#options = options;
    this.#validity = new Validity(options.replica);
  }

  get replica(): string {
    return this.#validity.replica;
  }

  /** The right to spend under the current name. */
  get validity(): Validity {
    return this.#validity;
  }

  /** Syncs leases with the ledger, which renews the right to spend, too. */
  async sync(requests: readonly SyncRequest[]): Promise<SyncAnswer[]> {
    const { replica } = this;
    const sent = this.#options.time.read();
    const answers = await this.#options.calls.sync(requests, replica);
    if (answers[0]) this.#onAnswer(replica, answers[0], sent);
    return answers;
  }

  /** Renews the right to spend, unless a recent call has done so. */
  async renew(): Promise<void> {
    if (this.#options.time.read().mono - this.#contactAt >= RENEW_MS) await this.#renew();
  }

  /** Whether no other process holds leases. */
  async isAlone(): Promise<boolean> {
    return (await this.#renew()) === 1;
  }

  async leave(): Promise<void> {
    if (this.#contactAt !== Number.NEGATIVE_INFINITY) await this.#deregister(this.replica);
  }

  /** The processes with these names have died, and this one took over their leases. */
  async replace(replicas: readonly string[]): Promise<void> {
    for (const replica of new Set(replicas)) if (replica !== this.replica) await this.#deregister(replica);
  }

  /** Returns the number of processes that may lease units. */
  async #renew(): Promise<number> {
    const { replica } = this;
    const sent = this.#options.time.read();
    const right = await this.#options.calls.renew(replica);
    this.#onAnswer(replica, right, sent);
    return right.holders;
  }

  /**
   * The ledger has answered a call that `replica` sent. A released process takes a new name, because the ledger
   * grants nothing to the old one.
   */
  #onAnswer(replica: string, { now, leaseMs }: SpendingRight, sent: ClockReading): void {
    if (replica !== this.replica || sent.mono < this.#contactAt) return; // a newer answer was faster
    this.#options.time.observe(now, sent);
    this.#validity.extend(now, leaseMs, sent);
    this.#contactAt = sent.mono;
    if (leaseMs > 0) return;
    this.#validity = new Validity(this.#options.newId());
    this.#validity.extend(now, leaseMs, sent); // nothing yet, but it has the month
    this.#options.onReleased();
  }

  /** Best effort, within 500 ms: without this, the ledger counts the process until it expires, and others get smaller shares. */
  async #deregister(replica: string): Promise<void> {
    const { scheduler, calls } = this.#options;
    await withTimeout(scheduler, LEAVE_MS_MAX, calls.leave(replica)).catch(() => {});
  }
}

/**
 * Until when a process may spend from the leases that it took under one name, all of them together. The deadline is on both clocks: the monotonic
 * one stops while a virtual machine sleeps, and the wall clock may be set back. It never goes past the month's end.
 */
export class Validity {
  /** The name of the process in the ledger. */
  readonly replica: string;
  /** The month whose leases may be spent from. */
  period: Period = 0;
  wallEnd = Number.NEGATIVE_INFINITY;
  monoEnd = Number.NEGATIVE_INFINITY;

  constructor(replica: string) {
    this.replica = replica;
  }

  /**
   * Applies the ledger's reply to a call sent at `sent`: the ledger's time, and how long the right lasts. It is measured from
   * `sent`, so a slow reply shortens it.
   */
  extend(ledgerNow: number, leaseMs: number, sent: ClockReading): void {
    this.period = periodOf(ledgerNow);
    const validMs = Math.min(leaseMs - MARGIN_MS, periodEnd(this.period) - ledgerNow);
    this.wallEnd = sent.wall + validMs;
    this.monoEnd = sent.mono + validMs;
  }

  covers(period: Period, { wall, mono }: ClockReading): boolean {
    return period === this.period && wall < this.wallEnd && mono < this.monoEnd;
  }
}
