import { Unavailable } from '../../ledger/engine/errors.ts';
import type { Period } from '../../ledger/quota/period.ts';
import type { QuotaStore } from '../../ledger/quota/quota.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Lease } from './lease.ts';
import type { Scheduler } from './scheduler.ts';

export interface KnownUsage {
  /** The month it is about. */
  period: Period;
  used: number;
  quota: number;
  /** The ledger's time for which `used` holds. */
  asOf: number;
  /** Every replica has said what it spent before the question. */
  exact: boolean;
}

/** How long a question waits for the other replicas: they look every 100 ms. */
const WAIT_MS = 300;
const LOOK_MS = 10;
/** How long it waits for the ledger when nothing older is known. */
const LEDGER_WAIT_MS = 2_000;

type Calls = Pick<QuotaStore, 'raiseBarrier' | 'usage' | 'usageBeside'>;

/** The lease that this replica holds. */
type OwnLease = Pick<Lease, 'owner' | 'spent' | 'learn'>;

/**
 * Exact usage over all replicas. Where no other replica holds a lease, one read of the ledger tells it: a free request must
 * not cost a write. Otherwise, and where the ledger itself has to know every count, it raises the account's barrier and
 * waits until every open lease has reported behind it.
 *
 * An account has one question of each kind in flight. A caller that comes meanwhile shares the next one and not this one,
 * which began before the call.
 */
export class UsageReader {
  readonly #calls: Calls;
  readonly #scheduler: Scheduler;
  readonly #monotonic: Clock;
  /** Tells this replica's own lease, which need not wait for the next look. */
  readonly #raised: (accountId: string, period: Period, barrier: number) => void;
  readonly #leaseOf: (accountId: string, period: Period) => OwnLease | undefined;
  readonly #running = new Map<string, Promise<KnownUsage>>();
  readonly #next = new Map<string, Promise<KnownUsage>>();

  constructor(
    calls: Calls,
    scheduler: Scheduler,
    monotonic: Clock,
    raised: (accountId: string, period: Period, barrier: number) => void,
    leaseOf: (accountId: string, period: Period) => OwnLease | undefined,
  ) {
    this.#calls = calls;
    this.#scheduler = scheduler;
    this.#monotonic = monotonic;
    this.#raised = raised;
    this.#leaseOf = leaseOf;
  }

  /** Answers with `known`, if there is any, when the ledger does not answer. */
  ask(accountId: string, period: Period, known: KnownUsage | undefined): Promise<KnownUsage> {
    return this.#share(accountId, () => this.#inTime(this.#measure(accountId, period), known));
  }

  /** The same, and the ledger then has every count. */
  report(accountId: string, period: Period, known: KnownUsage | undefined): Promise<KnownUsage> {
    return this.#share(`${accountId} reported`, () =>
      this.#inTime(this.#measureReported(accountId, period), known),
    );
  }

  #share(question: string, measure: () => Promise<KnownUsage>): Promise<KnownUsage> {
    const running = this.#running.get(question);
    if (!running) return this.#start(question, measure);
    const next =
      this.#next.get(question) ??
      running
        .catch(() => {})
        .then(() => {
          this.#next.delete(question);
          return this.#start(question, measure);
        });
    this.#next.set(question, next);
    return next;
  }

  #start(question: string, measure: () => Promise<KnownUsage>): Promise<KnownUsage> {
    const answer = measure().finally(() => this.#running.delete(question));
    this.#running.set(question, answer);
    return answer;
  }

  async #measure(accountId: string, period: Period): Promise<KnownUsage> {
    const lease = this.#leaseOf(accountId, period);
    const beside = await this.#calls.usageBeside(accountId, period, lease?.owner.leaseId ?? '');
    if (beside.otherLeases > 0) return this.#measureReported(accountId, period);
    const { usedBeside, quota, asOf } = beside;
    lease?.learn(quota, usedBeside);
    return { period, used: usedBeside + (lease?.spent ?? 0), quota, asOf, exact: true };
  }

  async #measureReported(accountId: string, period: Period): Promise<KnownUsage> {
    const start = this.#monotonic.now();
    const barrier = await this.#calls.raiseBarrier(accountId, period);
    this.#raised(accountId, period, barrier);
    for (;;) {
      const { behind, ...usage } = await this.#calls.usage(accountId, period, barrier);
      const isLate = this.#monotonic.now() - start + LOOK_MS >= WAIT_MS;
      if (behind === 0 || isLate) return { period, ...usage, exact: behind === 0 };
      await new Promise<void>((resolve) => void this.#scheduler.after(LOOK_MS, resolve));
    }
  }

  #inTime(measured: Promise<KnownUsage>, known: KnownUsage | undefined): Promise<KnownUsage> {
    return new Promise((resolve, reject) => {
      const orKnown = (error: Error) => (known ? resolve(known) : reject(error));
      const callOff = this.#scheduler.after(known ? WAIT_MS : LEDGER_WAIT_MS, () =>
        orKnown(new Unavailable('its ledger cannot be reached')),
      );
      measured.then(resolve, orKnown).finally(callOff);
    });
  }
}
