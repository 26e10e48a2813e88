import type { SyncAnswer, SyncRequest } from '../../ledger/quota/model.ts';
import type { Clock } from '../../runtime/clock.ts';
import { Histogram } from '../../runtime/metrics/histogram.ts';
import { systemScheduler, withTimeout } from '../../runtime/scheduler.ts';
import { COUNTED_ENDPOINTS, type CountedEndpoint } from '../endpoints.ts';
import { Spool } from '../spool/spool.ts';
import type { AccountLeaseHost, MeteredAccount } from './account-lease.ts';
import { Adoptions } from './adoption.ts';
import { QuotaHolder } from './holder.ts';
import type { Lease } from './lease.ts';
import { LeaseFactory, randomId } from './lease-factory.ts';
import { MeteredAccounts } from './metered-accounts.ts';
import type { MeterOptions, QuotaCalls } from './options.ts';
import { Settlements } from './settlements.ts';
import { refusal, type Spend, type Spent } from './spend.ts';
import { Syncer } from './syncer.ts';
import { LedgerTime } from './timing/ledger-time.ts';
import { MeterMaintenance } from './timing/maintenance.ts';
import { PeriodicJobs } from './timing/periodic-jobs.ts';
import { type KnownUsage, UsageReader } from './usage-reader.ts';

/** What `used` may lack after the loss of a whole host. A killed process loses nothing: its counts are in the spool. */
const FLUSH_MS = 5_000;
/** One transaction of this size takes PostgreSQL some milliseconds. */
const BATCH_MAX = 256;
/** The caller retries a start that fails, so a start must not hang. */
const OPEN_MS_MAX = 5_000;
/** How long a stop waits for a ledger that does not answer. */
const CLOSE_MS_MAX = 3_000;

/**
 * Counts requests against quotas that all replicas share. A spend is a few instructions and one store into the spool.
 * Only the first request of an account, and one that finds its block empty, waits for the ledger.
 */
export class Meter {
  readonly #quota: QuotaCalls;
  readonly #clock: Clock;
  readonly #monotonic: Clock;
  readonly #time: LedgerTime;
  readonly #spool: Spool;
  readonly #leases: LeaseFactory;
  readonly #holder: QuotaHolder;
  /** The index of each endpoint's counter. */
  readonly #counters: Readonly<Record<string, number>>;
  readonly #syncer: Syncer;
  readonly #settlements: Settlements;
  readonly #adoptions: Adoptions;
  readonly #jobs: PeriodicJobs;
  readonly #usage: UsageReader;
  readonly #host: AccountLeaseHost;
  readonly #accounts: MeteredAccounts;
  /** Duration of the calls that report counts and lease units, including those without an answer. */
  readonly syncLatency = new Histogram();
  #syncFailures = 0;
  #isClosed = false;

  private constructor(options: MeterOptions) {
    const scheduler = options.scheduler ?? systemScheduler;
    const warn = options.warn ?? (() => {});
    const newId = options.newId ?? randomId;
    const endpoints = options.endpoints ?? COUNTED_ENDPOINTS;
    this.#counters = Object.fromEntries(endpoints.map((endpoint, counter) => [endpoint, counter]));
    this.#quota = options.ledger.quota;
    this.#clock = options.clock;
    this.#monotonic = options.monotonic ?? { now: () => performance.now() };
    this.#time = new LedgerTime(this.#clock, this.#monotonic);
    this.#spool = new Spool({
      endpoints,
      dir: options.spoolDir,
      warn,
      ...(options.lock && { lock: options.lock }),
      ...(options.spoolRecordsPerFile && { recordsPerFile: options.spoolRecordsPerFile }),
    });
    this.#holder = new QuotaHolder({
      calls: this.#quota,
      time: this.#time,
      scheduler,
      replica: options.replica ?? newId(),
      newId,
      onReleased: () => {
        for (const account of this.#accounts.values()) account.closeLease();
      },
    });
    this.#leases = new LeaseFactory({
      spool: this.#spool,
      time: this.#time,
      holder: this.#holder,
      newId,
      warn,
    });
    this.#syncer = new Syncer({
      sync: (requests) => this.#sync(requests),
      now: () => this.#time.read(),
      scheduler,
      warn,
      batchMax: options.batchMax ?? BATCH_MAX,
      onCall: (ms, isAnswered) => {
        this.syncLatency.add(ms);
        if (!isAnswered) this.#syncFailures++;
      },
    });
    this.#settlements = new Settlements(
      (settlement) => this.#syncer.enqueue(settlement),
      () => this.#monotonic.now(),
      options.keepSettledMs ?? 0,
    );
    this.#adoptions = new Adoptions({
      syncer: this.#syncer,
      settlements: this.#settlements,
      holder: this.#holder,
      time: this.#time,
      keep: (lease) => !this.#isClosed && this.#accounts.keepAdopted(lease),
    });
    this.#host = {
      now: () => this.#time.read(),
      period: () => this.#time.period(),
      openLease: (accountId) => this.#leases.open(accountId),
      closeLease: (lease) => this.#settlements.close(lease),
      markDirty: (account) => this.#accounts.markDirty(account),
      enqueue: (party, urgent) => this.#syncer.enqueue(party, urgent),
      after: (ms, callback) => scheduler.after(ms, callback),
      exhausted: () => refusal('exhausted', this.secondsToReset()),
      unavailable: () => refusal('unavailable', 1),
    };
    this.#accounts = new MeteredAccounts(this.#host, options.flushMs ?? FLUSH_MS);
    this.#usage = new UsageReader({
      calls: {
        raiseBarrier: (accountId, period) =>
          this.#quota.raiseBarrier(accountId, period, this.#holder.replica),
        usage: (accountId, period, barrier) => this.#quota.usage(accountId, period, barrier),
        usageWithoutLease: (accountId, period, leaseId) =>
          this.#quota.usageWithoutLease(accountId, period, leaseId),
      },
      scheduler,
      monotonic: this.#monotonic,
      onBarrierRaised: (accountId, period, barrier) =>
        this.#accounts.get(accountId)?.onSignal({ accountId, period, barrier, recallAt: 0 }),
      leaseOf: (accountId, period) => {
        const lease = this.#accounts.get(accountId)?.lease;
        return lease?.period === period ? lease : undefined;
      },
    });
    const maintenance = new MeterMaintenance({
      quota: this.#quota,
      time: this.#time,
      spool: this.#spool,
      holder: this.#holder,
      accounts: this.#accounts,
      syncer: this.#syncer,
      settlements: this.#settlements,
    });
    this.#jobs = new PeriodicJobs(scheduler, warn, maintenance);
  }

  /** Takes a slot of the spool, settles what its last owner left, and starts. */
  static async open(options: MeterOptions): Promise<Meter> {
    const meter = new Meter(options);
    const scheduler = options.scheduler ?? systemScheduler;
    try {
      const sent = meter.#time.read();
      meter.#time.observe(await withTimeout(scheduler, OPEN_MS_MAX, meter.#quota.now()), sent);
    } catch (error) {
      meter.#spool.close();
      throw error;
    }
    meter.#leases.reserve();
    meter.#adoptions.adopt(meter.#spool.leftovers);
    await meter.#syncer.idle();
    await meter.#holder.replace(meter.#spool.leftovers.map(({ owner }) => owner.replica));
    meter.#jobs.start();
    return meter;
  }

  /**
   * Takes units of the account's quota, all or none. Synchronous while the replica holds enough of them; a promise only
   * for an account's first request, and when its block has too few. `now` is for a caller that has just read the clock:
   * reading it takes longer than the rest.
   */
  spend(
    account: MeteredAccount,
    endpoint: CountedEndpoint,
    now = this.#clock.now(),
    units = 1,
  ): Spend | Promise<Spend> {
    const counter = this.#counters[endpoint]!;
    const mono = this.#monotonic.now();
    return (
      this.#take(account.lease, counter, units, now, mono) ??
      this.#take(this.#currentLease(account), counter, units, now, mono) ??
      this.#wait(account, counter, units)
    );
  }

  /** Calls that failed or got no answer in time. Each is sent again. */
  get syncFailures(): number {
    return this.#syncFailures;
  }

  /** Why the ledger does not take counts, so that requests are refused once their leases are spent; undefined if it does. */
  get failure(): string | undefined {
    return this.#syncer.failure;
  }

  /** What this replica knows of the account; undefined before its first request. */
  known(accountId: string): (Spent & { readonly quota: number }) | undefined {
    return this.#accounts.get(accountId)?.lease;
  }

  /**
   * What the account has used this month: exact over all replicas, or, when one of them or the ledger does not answer
   * within 300 ms, the older value with its time. Throws when nothing is known at all.
   */
  async usage(accountId: string): Promise<KnownUsage> {
    return this.#usage.read(accountId, this.#time.period(), this.#accounts.get(accountId)?.usage);
  }

  /** Like `usage`, after every replica has reported its counts to the ledger. */
  async reportedUsage(accountId: string): Promise<KnownUsage> {
    return this.#usage.readReported(accountId, this.#time.period(), this.#accounts.get(accountId)?.usage);
  }

  /** Whether no other process holds leases. */
  isAlone(): Promise<boolean> {
    return this.#holder.isAlone();
  }

  /** Leases units for accounts before their first requests. Resolves when they are there, or at the next failure. */
  async leaseAhead(accountIds: Iterable<string>): Promise<void> {
    if (this.#isClosed || this.#syncer.isDown) return;
    this.#accounts.leaseAhead(accountIds);
    await this.#syncer.idle();
  }

  /** Reports every count of this process again, to a ledger that may have lost its last writes. */
  reportAll(): void {
    this.#settlements.sendAgain();
    for (const account of this.#accounts.values()) if (account.lease) this.#syncer.enqueue(account);
  }

  /** Syncs the leases of accounts whose plan has changed: a lower quota takes back what they hold. */
  refresh(accountIds: Iterable<string>): void {
    for (const id of accountIds) {
      const account = this.#accounts.get(id);
      if (account?.lease) this.#syncer.enqueue(account);
    }
  }

  /** When the quotas reset, in ms since the epoch, by the ledger's time. */
  resetAt(): number {
    return this.#time.resetAt();
  }

  secondsToReset(): number {
    return this.#time.secondsToReset();
  }

  /** Returns all leases. What the ledger cannot take now stays in the spool for the next process. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#jobs.stop();
    for (const account of this.#accounts.values()) account.end();
    await this.#syncer.close(CLOSE_MS_MAX);
    if (!this.#syncer.isDown) await this.#holder.leave();
    this.#settlements.erase(0);
    this.#spool.close();
  }

  /** Takes units from a lease, if it is one of this meter's and has enough of them. */
  #take(
    lease: Lease | undefined,
    counter: number,
    units: number,
    wall: number,
    mono: number,
  ): Lease | undefined {
    if (lease?.validity !== this.#holder.validity || !lease.take(counter, units, wall, mono))
      return undefined;
    if (!lease.isDirty || lease.spent >= lease.refillAt) this.#accounts.prepareSync(lease);
    return lease;
  }

  /** The account may refer to a lease that has ended, or to none yet. */
  #currentLease(account: MeteredAccount): Lease | undefined {
    account.lease = this.#accounts.get(account.id)?.lease;
    return account.lease;
  }

  #wait(account: MeteredAccount, counter: number, units: number): Spend | Promise<Spend> {
    if (this.#isClosed || this.#syncer.isDown) return this.#host.unavailable();
    return this.#accounts.getOrAdd(account.id).wait(counter, units);
  }

  async #sync(requests: readonly SyncRequest[]): Promise<SyncAnswer[]> {
    const sent = this.#time.read();
    const { replica } = this.#holder;
    const answers = await this.#quota.sync(requests, replica);
    if (answers[0]) this.#holder.onAnswer(replica, answers[0], sent);
    return answers;
  }
}
