import { Unavailable } from '../../ledger/engine/errors.ts';
import type { Period } from '../../ledger/quota/period.ts';
import type { QuotaStore } from '../../ledger/quota/quota.ts';
import type { Scheduler } from '../../runtime/scheduler.ts';
import type { KnownUsage } from './account-lease.ts';
import type { PendingAdoptions } from './adoption/pending-adoptions.ts';
import type { QuotaHolder } from './holder.ts';
import type { MeteredAccounts } from './metered-accounts.ts';
import type { LedgerTime } from './timing/ledger-time.ts';

export interface UsageReaderOptions {
  calls: Pick<QuotaStore, 'raiseBarrier' | 'usage' | 'usageWithoutLease'>;
  scheduler: Scheduler;
  time: Pick<LedgerTime, 'read' | 'period'>;
  holder: Pick<QuotaHolder, 'replica'>;
  accounts: Pick<MeteredAccounts, 'get'>;
  adoptions: Pick<PendingAdoptions, 'hasten'>;
}

/** How long a read waits for the other replicas, which look for barriers every 100 ms. */
const WAIT_MS = 300;
/**
 * The first pause between two queries, and the last moment for one before the wait ends. Pauses double up to a limit: short
 * enough that a report leaves time for several more queries if one of them is slow.
 */
const PAUSE_MS = 10;
const PAUSE_MS_MAX = 40;
/** How long it waits for the ledger when nothing older is known. */
const LEDGER_WAIT_MS = 2_000;

/**
 * Reads exact usage over all replicas. When no other replica holds a lease, one read of the ledger is enough: a free
 * request must not cost a write. Otherwise, and when the ledger itself must have every count, it raises the account's
 * barrier and waits until every open lease has reported.
 *
 * Each account has at most one read of each kind in flight. A caller that arrives meanwhile shares the next one, because
 * the one in flight began before the call.
 */
export class UsageReader {
  readonly #options: UsageReaderOptions;
  readonly #running = new Map<string, Promise<KnownUsage>>();
  readonly #next = new Map<string, Promise<KnownUsage>>();

  constructor(options: UsageReaderOptions) {
    this.#options = options;
  }

  /** Falls back to what this replica knows, if anything, when the ledger does not answer in time. */
  read(accountId: string): Promise<KnownUsage> {
    const [period, known] = this.#local(accountId);
    return this.#share(accountId, () => this.#withFallback(this.#measure(accountId, period), known));
  }

  /** Like `read`, and the ledger then has every count. */
  readReported(accountId: string): Promise<KnownUsage> {
    const [period, known] = this.#local(accountId);
    return this.#share(`${accountId} reported`, () =>
      this.#withFallback(this.#measureReported(accountId, period), known),
    );
  }

  /** The month, and the usage that this replica knows without asking the ledger. */
  #local(accountId: string): [Period, KnownUsage | undefined] {
    const { time, accounts } = this.#options;
    const period = time.period();
    const known = accounts.get(accountId)?.usage;
    return [period, known?.period === period ? known : undefined];
  }

  #share(key: string, measure: () => Promise<KnownUsage>): Promise<KnownUsage> {
    const running = this.#running.get(key);
    if (!running) return this.#start(key, measure);
    const next =
      this.#next.get(key) ??
      running
        .catch(() => {})
        .then(() => {
          this.#next.delete(key);
          return this.#start(key, measure);
        });
    this.#next.set(key, next);
    return next;
  }

  #start(key: string, measure: () => Promise<KnownUsage>): Promise<KnownUsage> {
    const usage = measure().finally(() => this.#running.delete(key));
    this.#running.set(key, usage);
    return usage;
  }

  async #measure(accountId: string, period: Period): Promise<KnownUsage> {
    const { calls, accounts, adoptions } = this.#options;
    await adoptions.hasten(accountId); // a lease without a holder never acknowledges a barrier
    const held = accounts.get(accountId)?.lease;
    const lease = held?.period === period ? held : undefined;
    const beside = await calls.usageWithoutLease(accountId, period, lease?.leaseId ?? '');
    if (beside.otherLeases > 0) return this.#measureReported(accountId, period);
    const { usedBeside, quota, asOf } = beside;
    lease?.update(quota, usedBeside);
    return { period, used: usedBeside + (lease?.spent ?? 0), quota, asOf, exact: true };
  }

  async #measureReported(accountId: string, period: Period): Promise<KnownUsage> {
    const { calls, scheduler, time, holder, accounts, adoptions } = this.#options;
    await adoptions.hasten(accountId);
    const start = time.read().mono;
    const barrier = await calls.raiseBarrier(accountId, period, holder.replica);
    // Signals this replica's own lease directly: it would wait up to 100 ms until signals are read again.
    accounts.get(accountId)?.onSignal({ accountId, period, barrier, recallAt: 0 });
    for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
      const { behind, ...usage } = await calls.usage(accountId, period, barrier);
      const leftMs = start + WAIT_MS - PAUSE_MS - time.read().mono;
      if (behind === 0 || leftMs <= 0) return { period, ...usage, exact: behind === 0 };
      const untilNextMs = Math.min(pauseMs, leftMs);
      await new Promise<void>((resolve) => void scheduler.after(untilNextMs, resolve));
    }
  }

  #withFallback(measured: Promise<KnownUsage>, known: KnownUsage | undefined): Promise<KnownUsage> {
    return new Promise((resolve, reject) => {
      const orKnown = (error: Error) => (known ? resolve(known) : reject(error));
      const cancel = this.#options.scheduler.after(known ? WAIT_MS : LEDGER_WAIT_MS, () =>
        orKnown(new Unavailable('its ledger cannot be reached')),
      );
      measured.then(resolve, orKnown).finally(cancel);
    });
  }
}
