import type { Clock } from '../../runtime/clock.ts';
import type { Histogram } from '../../runtime/metrics/histogram.ts';
import { systemScheduler, withTimeout } from '../../runtime/scheduler.ts';
import { COUNTED_ENDPOINTS, type CountedEndpoint } from '../endpoints.ts';
import { Spool } from '../spool/spool.ts';
import type { KnownUsage, MeteredAccount } from './account-lease.ts';
import { Adoptions } from './adoption/adoptions.ts';
import { PendingAdoptions } from './adoption/pending-adoptions.ts';
import { QuotaHolder } from './holder.ts';
import type { Lease } from './lease.ts';
import { LeaseFactory, randomId } from './lease-factory.ts';
import { MeteredAccounts } from './metered-accounts.ts';
import type { MeterOptions, QuotaCalls } from './options.ts';
import { Settlements } from './settlements.ts';
import { type Spend, type Spent, UNAVAILABLE } from './spend.ts';
import { Syncer } from './syncer.ts';
import { LedgerTime } from './timing/ledger-time.ts';
import { MeterMaintenance } from './timing/maintenance.ts';
import { PeriodicJobs } from './timing/periodic-jobs.ts';
import { UsageReader } from './usage-reader.ts';

/** What `used` may lack after the loss of a whole host. A killed process loses nothing: its counts are in the spool. */
const FLUSH_MS = 5_000;
/** One transaction of this size takes PostgreSQL some milliseconds. */
const BATCH_MAX = 256;
/** The caller retries a start that fails, so a start must not hang. */
const OPEN_MS_MAX = 5_000;
/** How long a start waits for the leases of the last process: a few thousand. The others follow while requests are served. */
const ADOPT_MS_MAX = 200;
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
  readonly #accounts: MeteredAccounts;
  /** Resolves when this process has taken over everything that the last one on its spool left. */
  #adopted = Promise.resolve();

  private constructor(options: MeterOptions) {
    const { clock, scheduler = systemScheduler, warn = () => {}, newId = randomId } = options;
    const { monotonic = { now: () => performance.now() }, endpoints = COUNTED_ENDPOINTS } = options;
    const { quota } = options.ledger;
    const time = new LedgerTime(clock, monotonic);
    const spool = new Spool({
      endpoints,
      dir: options.spoolDir,
      warn,
      ...(options.lock && { lock: options.lock }),
      ...(options.spoolRecordsPerFile && { recordsPerFile: options.spoolRecordsPerFile }),
    });
    const holder = new QuotaHolder({
      calls: quota,
      time,
      scheduler,
      replica: options.replica ?? newId(),
      newId,
      onReleased: () => accounts.closeLeases(),
    });
    const syncer = new Syncer({ holder, time, scheduler, warn, batchMax: options.batchMax ?? BATCH_MAX });
    const settlements = new Settlements(syncer, time, options.keepSettledMs ?? 0);
    const leases = new LeaseFactory({ spool, time, holder, newId, warn });
    const pending = new PendingAdoptions(syncer);
    const accounts = new MeteredAccounts(
      { time, scheduler, leases, settlements, syncer, adoptions: pending },
      options.flushMs ?? FLUSH_MS,
    );
    const maintenance = new MeterMaintenance({ quota, time, spool, holder, accounts, syncer, settlements });
    this.#quota = quota;
    this.#clock = clock;
    this.#monotonic = monotonic;
    this.#time = time;
    this.#spool = spool;
    this.#leases = leases;
    this.#holder = holder;
    this.#counters = Object.fromEntries(endpoints.map((endpoint, counter) => [endpoint, counter]));
    this.#syncer = syncer;
    this.#settlements = settlements;
    this.#adoptions = new Adoptions({ syncer, settlements, holder, time, accounts, pending });
    this.#jobs = new PeriodicJobs(scheduler, warn, maintenance);
    this.#usage = new UsageReader({ calls: quota, scheduler, time, holder, accounts, adoptions: pending });
    this.#accounts = accounts;
  }

  /** Takes a slot of the spool and starts. What its last owner left is taken over, at first while the caller waits. */
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
    meter.#adopted = meter.#adopt();
    await withTimeout(scheduler, ADOPT_MS_MAX, meter.#adopted).catch(() => {});
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

  /** Duration of the calls that report counts and lease units, including those without an answer. */
  get syncLatency(): Histogram {
    return this.#syncer.latency;
  }

  /** Calls that failed or got no answer in time. Each is sent again. */
  get syncFailures(): number {
    return this.#syncer.failedCalls;
  }

  /** Why the ledger does not take counts, so that requests are refused once their leases are spent; undefined if it does. */
  get failure(): string | undefined {
    return this.#syncer.failure;
  }

  /** What this replica knows of the account; undefined before its first request of the month. */
  known(accountId: string): (Spent & { readonly quota: number }) | undefined {
    const lease = this.#accounts.get(accountId)?.lease;
    return lease?.period === this.#time.period() ? lease : undefined;
  }

  /**
   * What the account has used this month: exact over all replicas, or, when one of them or the ledger does not answer
   * within 300 ms, the older value with its time. Throws when nothing is known at all.
   */
  usage(accountId: string): Promise<KnownUsage> {
    return this.#usage.read(accountId);
  }

  /** Like `usage`, after every replica has reported its counts to the ledger. */
  reportedUsage(accountId: string): Promise<KnownUsage> {
    return this.#usage.readReported(accountId);
  }

  /** Whether no other process holds leases. Waits until those of the last process are taken over. */
  async isAlone(): Promise<boolean> {
    await this.#adopted;
    return this.#holder.isAlone();
  }

  /** Leases units for accounts before their first requests. Resolves when they are there, or at the next failure. */
  async leaseAhead(accountIds: Iterable<string>): Promise<void> {
    if (this.#accounts.isClosed || this.#syncer.isDown) return;
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
    if (this.#accounts.isClosed) return;
    this.#jobs.stop();
    this.#accounts.close();
    await this.#syncer.close(CLOSE_MS_MAX);
    if (!this.#syncer.isDown) await this.#holder.leave();
    this.#settlements.erase(0);
    this.#spool.close();
  }

  /** Takes over the leases that the last process on the spool left; then it no longer counts as one that shares the quotas. */
  async #adopt(): Promise<void> {
    const { leftovers } = this.#spool;
    await this.#adoptions.adopt(leftovers);
    await this.#holder.replace(leftovers.map(({ owner }) => owner.replica));
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
    if (this.#accounts.isClosed || this.#syncer.isDown) return UNAVAILABLE;
    return this.#accounts.getOrAdd(account.id).wait(counter, units);
  }
}
