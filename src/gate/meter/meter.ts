import { type Period, periodEnd, periodOf } from '../../ledger/quota/period.ts';
import type { QuotaStore } from '../../ledger/quota/quota.ts';
import type { SyncAnswer, SyncRequest } from '../../ledger/quota/rules.ts';
import type { Clock } from '../../runtime/clock.ts';
import { Histogram } from '../../runtime/metrics/histogram.ts';
import { COUNTED_ENDPOINTS, type CountedEndpoint } from '../endpoints.ts';
import type { LockSlot } from '../spool/slot-lock.ts';
import { Spool, type SpoolRecord } from '../spool/spool.ts';
import type { Owner } from '../spool/spool-record.ts';
import { AccountLease, type AccountLeaseHost } from './account-lease.ts';
import { type ClockReading, Lease } from './lease.ts';
import { PeriodicJobs } from './periodic-jobs.ts';
import { inTime, type Scheduler, systemScheduler } from './scheduler.ts';
import { Settlements } from './settlements.ts';
import type { QuotaRefusal, Spend, Spent } from './spend.ts';
import { Syncer } from './syncer.ts';
import { type KnownUsage, UsageReader } from './usage-reader.ts';

export interface MeterOptions {
  ledger: { readonly quota: QuotaCalls };
  clock: Clock;
  /** A folder of this machine's own, kept across restarts. */
  spoolDir: string;
  /** Names this process in the ledger; anything that no other has. */
  replica?: string;
  warn?: (text: string) => void;
  monotonic?: Clock;
  scheduler?: Scheduler;
  newId?: () => string;
  lock?: LockSlot;
  spoolRecordsPerFile?: number;
  /** How long the spool keeps a lease after the ledger has acknowledged its end, for a ledger that can lose its last writes. */
  keepSettledMs?: number;
  /** What is counted, each in a counter of its own; `COUNTED_ENDPOINTS` unless a test adds to them. */
  endpoints?: readonly string[];
}

export type QuotaCalls = Pick<
  QuotaStore,
  'sync' | 'raiseBarrier' | 'signals' | 'usage' | 'usageBeside' | 'releaseLost' | 'foldSettled' | 'now'
>;

/** After so long without a request an account's lease is given back. */
const IDLE_MS = 30_000;
/** What the loss of a whole host can cost in `used`; a kill costs nothing, for that is what the spool is for. */
const FLUSH_MS = 5_000;
/** A start that fails is tried again by whoever made it; one that hangs is not. */
const OPEN_MS_MAX = 5_000;
/** How long a stop waits for a ledger that does not answer. */
const CLOSE_MS_MAX = 3_000;
/** For how long a barrier or recall is looked for: far longer than anybody waits for it. */
const SIGNAL_WINDOW_MS = 5_000;
const SPOOL_RETRY_MS = 1_000;

/**
 * Counts requests against quotas that all replicas share. A spend is a few instructions and one store into the spool;
 * the ledger is asked only for an account's first request and when a block runs dry.
 */
export class Meter {
  readonly #quota: QuotaCalls;
  readonly #clock: Clock;
  readonly #monotonic: Clock;
  readonly #spool: Spool;
  /** The position of each endpoint's counter. */
  readonly #places: Readonly<Record<string, number>>;
  readonly #syncer: Syncer;
  readonly #settlements: Settlements;
  readonly #ticker: PeriodicJobs;
  readonly #usage: UsageReader;
  readonly #replica: AccountLeaseHost;
  readonly #purses = new Map<string, AccountLease>();
  /** How long calls take that report counts and lease units, those included that were not answered. */
  readonly syncLatency = new Histogram();
  #syncFailures = 0;
  /** The ledger's time less the monotonic clock. */
  #ledgerAhead = 0;
  #isClosed = false;
  #spoolFullUntil = Number.NEGATIVE_INFINITY;

  private constructor(options: MeterOptions) {
    const scheduler = options.scheduler ?? systemScheduler;
    const warn = options.warn ?? (() => {});
    const newId = options.newId ?? Bun.randomUUIDv7;
    const name = options.replica ?? newId();
    const endpoints = options.endpoints ?? COUNTED_ENDPOINTS;
    this.#places = Object.fromEntries(endpoints.map((endpoint, place) => [endpoint, place]));
    const spoolOptions = {
      endpoints,
      dir: options.spoolDir,
      warn,
      ...(options.lock && { lock: options.lock }),
      ...(options.spoolRecordsPerFile && { recordsPerFile: options.spoolRecordsPerFile }),
    };
    this.#quota = options.ledger.quota;
    this.#clock = options.clock;
    this.#monotonic = options.monotonic ?? { now: () => performance.now() };
    this.#spool = new Spool(spoolOptions);
    this.#syncer = new Syncer({
      sync: (requests) => this.#sync(requests),
      now: () => this.#now(),
      scheduler,
      warn,
      onCall: (ms, isAnswered) => {
        this.syncLatency.add(ms);
        if (!isAnswered) this.#syncFailures++;
      },
    });
    this.#settlements = new Settlements(
      (settlement) => this.#syncer.ask(settlement),
      () => this.#monotonic.now(),
      options.keepSettledMs ?? 0,
    );
    this.#replica = {
      now: () => this.#now(),
      period: () => this.#period(),
      openLease: (accountId) => {
        // A fresh id for each lease, not for each process: an old message must never meet a new lease.
        const owner = { accountId, period: this.#period(), leaseId: newId(), replica: name };
        const record = this.#recordFor(owner, warn);
        return record && new Lease(owner, record, this.#monotonic.now());
      },
      closeLease: (lease) => this.#settlements.close(lease),
      ask: (party, urgent) => this.#syncer.ask(party, urgent),
      after: (ms, call) => scheduler.after(ms, call),
      exhausted: () => refusal('exhausted', this.secondsToReset()),
      unavailable: () => refusal('unavailable', 1),
    };
    this.#usage = new UsageReader(
      this.#quota,
      scheduler,
      this.#monotonic,
      (accountId, period, barrier) =>
        this.#purses.get(accountId)?.heard({ accountId, period, barrier, recallAt: 0 }),
      (accountId, period) => {
        const lease = this.#purses.get(accountId)?.lease;
        return lease?.period === period ? lease : undefined;
      },
    );
    this.#ticker = new PeriodicJobs(scheduler, warn, {
      listen: () => this.#listen(),
      flush: () => this.#flush(),
      sweep: () => this.#sweep(),
    });
  }

  /** Takes a slot of the spool, settles what its last owner left, and starts. */
  static async open(options: MeterOptions): Promise<Meter> {
    const meter = new Meter(options);
    try {
      const sent = meter.#now();
      const scheduler = options.scheduler ?? systemScheduler;
      meter.#heard(await inTime(scheduler, OPEN_MS_MAX, meter.#quota.now()), sent);
    } catch (error) {
      meter.#spool.close();
      throw error;
    }
    meter.#reserveSpool(options.warn);
    for (const leftover of meter.#spool.leftovers) meter.#settlements.closeLeftover(leftover);
    await meter.#syncer.idle();
    meter.#ticker.start();
    return meter;
  }

  /**
   * Takes units of the account's quota, all or none. Answers at once while the replica holds enough; a promise only for
   * an account's first request, and when its block has too few. `now` is for a caller that has just read the clock: a
   * reading takes longer than the rest.
   */
  spend(
    account: { readonly id: string },
    endpoint: CountedEndpoint,
    now = this.#clock.now(),
    units = 1,
  ): Spend | Promise<Spend> {
    const place = this.#places[endpoint]!;
    const purse = this.#purses.get(account.id);
    const lease = purse?.lease;
    if (lease?.take(place, units, now, this.#monotonic.now())) {
      if (lease.spent >= lease.refillAt) this.#refill(purse!, lease);
      return lease;
    }
    return this.#wait(account.id, place, units);
  }

  /** Calls that failed or were not answered in time. Each is sent again. */
  get syncFailures(): number {
    return this.#syncFailures;
  }

  /** Whether the ledger does not take counts, so that requests are refused once their leases are spent. */
  get isDown(): boolean {
    return this.#syncer.isDown;
  }

  /** What is known of the account without asking; undefined before its first request. */
  known(accountId: string): (Spent & { readonly quota: number }) | undefined {
    return this.#purses.get(accountId)?.lease;
  }

  /**
   * What the account has used this month: exact over all replicas, or, when one of them or the ledger does not answer
   * within 300 ms, the older value with its time. Throws when nothing is known at all.
   */
  async usage(accountId: string): Promise<KnownUsage> {
    return this.#usage.ask(accountId, this.#period(), this.#knownUsage(accountId));
  }

  /** The same, after every replica has reported to the ledger what it has counted. */
  async reportedUsage(accountId: string): Promise<KnownUsage> {
    return this.#usage.report(accountId, this.#period(), this.#knownUsage(accountId));
  }

  #knownUsage(accountId: string): KnownUsage | undefined {
    const lease = this.#purses.get(accountId)?.lease;
    return (
      lease && {
        period: lease.period,
        used: lease.quota - lease.remaining,
        quota: lease.quota,
        asOf: lease.asOf,
        exact: false,
      }
    );
  }

  /** Tells the ledger every count that this process knows: it may have lost the last it was told. */
  reportAll(): void {
    this.#settlements.sendAgain();
    for (const purse of this.#purses.values()) if (purse.lease) this.#syncer.ask(purse);
  }

  /** When the quotas start afresh: ms since the epoch, by the ledger's month. */
  resetAt(): number {
    return periodEnd(this.#period());
  }

  /** Seconds until then, by the ledger's time. */
  secondsToReset(): number {
    return Math.max(1, Math.ceil((this.resetAt() - this.#ledgerNow()) / 1_000));
  }

  /** Gives all leases back. What the ledger cannot take now stays in the spool for the next process. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#ticker.stop();
    for (const purse of this.#purses.values()) purse.end();
    await this.#syncer.close(CLOSE_MS_MAX);
    this.#settlements.erase(0);
    this.#spool.close();
  }

  #wait(accountId: string, place: number, units: number): Spend | Promise<Spend> {
    if (this.#isClosed || this.#syncer.isDown) return this.#replica.unavailable();
    let purse = this.#purses.get(accountId);
    if (!purse) {
      purse = new AccountLease(accountId, this.#replica);
      this.#purses.set(accountId, purse);
    }
    return purse.wait(place, units);
  }

  #refill(purse: AccountLease, lease: Lease): void {
    lease.refillAt = Number.POSITIVE_INFINITY;
    this.#syncer.ask(purse);
  }

  /** Undefined when the disk is full. It is looked at once a second: each look writes a file. */
  #recordFor(owner: Owner, warn: (text: string) => void): SpoolRecord | undefined {
    if (this.#monotonic.now() < this.#spoolFullUntil) return undefined;
    try {
      return this.#spool.add(owner);
    } catch (error) {
      this.#spoolFullUntil = this.#monotonic.now() + SPOOL_RETRY_MS;
      warn(`the spool has no room for a lease, so nothing is counted or served for it: ${error}`);
      return undefined;
    }
  }

  /** The room of the first leases is taken at the start, not when a request waits and the disk may be full. */
  #reserveSpool(warn: (text: string) => void = () => {}): void {
    try {
      this.#spool.reserve();
    } catch (error) {
      warn(`the spool has no room: ${error}`);
    }
  }

  async #sync(requests: readonly SyncRequest[]): Promise<SyncAnswer[]> {
    const sent = this.#now();
    const answers = await this.#quota.sync(requests);
    if (answers[0]) this.#heard(answers[0].now, sent);
    return answers;
  }

  /** Looks whether another replica asks for counts or for units. */
  async #listen(): Promise<void> {
    if (this.#purses.size === 0 || this.#syncer.isDown) return;
    for (const signal of await this.#quota.signals(this.#ledgerNow() - SIGNAL_WINDOW_MS)) {
      this.#purses.get(signal.accountId)?.heard(signal);
    }
  }

  /** Tells the ledger what was spent, and gives back what nobody uses. */
  #flush(): void {
    const now = this.#now();
    this.#settlements.erase();
    for (const [accountId, purse] of this.#purses) {
      const { lease } = purse;
      if (purse.isBusy) continue;
      if (!lease) this.#purses.delete(accountId);
      else if (now.mono - lease.lastSpendAt >= IDLE_MS || lease.isFull || this.#isOver(lease, now)) {
        purse.closeLease();
      } else if (lease.spent > lease.flushed && now.mono - lease.lastAnswerAt >= FLUSH_MS) {
        this.#syncer.ask(purse);
      }
    }
  }

  #isOver(lease: Lease, now: ClockReading): boolean {
    return lease.hasEnded(now) && lease.period !== this.#period();
  }

  /** Settles for neighbours that are gone, lets go of what lost hosts held, and folds what is long settled. */
  async #sweep(): Promise<void> {
    for (const leftover of this.#spool.adopt()) this.#settlements.closeLeftover(leftover);
    await this.#quota.releaseLost();
    await this.#quota.foldSettled();
  }

  #now(): ClockReading {
    return { wall: this.#clock.now(), mono: this.#monotonic.now() };
  }

  #heard(ledgerNow: number, sent: ClockReading): void {
    this.#ledgerAhead = ledgerNow - sent.mono;
  }

  #ledgerNow(): number {
    return this.#monotonic.now() + this.#ledgerAhead;
  }

  #period(): Period {
    return periodOf(this.#ledgerNow());
  }
}

function refusal(reason: QuotaRefusal['reason'], seconds: number): QuotaRefusal {
  return { ok: false, reason, retryAfterSeconds: seconds };
}
