import type { QuotaCalls } from '../../src/gate/meter/options.ts';
import type { QuotaStore } from '../../src/ledger/quota/quota.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface NetworkFaults {
  /** A call that never reaches the ledger. */
  lostRequest: number;
  /** A call that is executed but whose reply is lost: the caller cannot distinguish the two. */
  lostReply: number;
  /** A call that takes seconds: its caller has given up and may have sent the next one. */
  slow: number;
}

/** Connects replicas with the real ledger. Each call is executed at one instant, in order of arrival. */
export class Network {
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #quota: QuotaStore;
  readonly #faults: NetworkFaults;
  /** Called after every call that may have changed the ledger. */
  readonly #changed: () => Promise<void>;
  /** Wraps a release, to observe which leases it releases. */
  readonly #released: (release: () => Promise<number>) => Promise<number>;
  isDown = false;
  /** Set at the end of a run, when all faults stop. */
  isCalm = false;

  constructor(options: {
    time: VirtualTime;
    random: Random;
    quota: QuotaStore;
    faults: NetworkFaults;
    changed: () => Promise<void>;
    released: (release: () => Promise<number>) => Promise<number>;
  }) {
    this.#time = options.time;
    this.#random = options.random;
    this.#quota = options.quota;
    this.#faults = options.faults;
    this.#changed = options.changed;
    this.#released = options.released;
  }

  /** The ledger as one process sees it. `deliver` runs a reply in the process, if it is still alive. */
  callsFor(deliver: (call: () => void) => void): QuotaCalls {
    const through =
      <A extends unknown[], T>(work: (...args: A) => Promise<T>) =>
      (...args: A) =>
        this.#call(() => work(...args), deliver);
    const checked =
      <A extends unknown[], T>(work: (...args: A) => Promise<T>) =>
      async (...args: A) => {
        const result = await work(...args);
        await this.#changed();
        return result;
      };
    const quota = this.#quota;
    return {
      sync: through(checked((requests, sender) => quota.sync(requests, sender))),
      renew: through((replica) => quota.renew(replica)),
      leave: through((replica) => quota.leave(replica)),
      raiseBarrier: through(
        checked((accountId, period, sender) => quota.raiseBarrier(accountId, period, sender)),
      ),
      releaseLost: through(checked(() => this.#released(() => quota.releaseLost()))),
      foldSettled: through(checked(() => quota.foldSettled())),
      deleteUnused: through(checked(() => quota.deleteUnused())),
      signals: through((replica) => quota.signals(replica)),
      usageWithoutLease: through((accountId, period, leaseId) =>
        quota.usageWithoutLease(accountId, period, leaseId),
      ),
      usage: through((accountId, period, barrier) => quota.usage(accountId, period, barrier)),
      now: through(() => quota.now()),
    };
  }

  #call<T>(work: () => Promise<T>, deliver: (call: () => void) => void): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const fail = (text: string) => deliver(() => reject(new Error(text)));
    if (this.#happens(this.#faults.lostRequest)) {
      if (this.#random.happens(0.5))
        this.#time.after(this.#delay(), () => fail('connection lost before the call'));
      return promise;
    }
    this.#time.after(this.#delay(), () => {
      if (this.isDown) return fail('connection refused');
      this.#time.work(this.#do(work, deliver, resolve, fail));
    });
    return promise;
  }

  async #do<T>(
    work: () => Promise<T>,
    deliver: (call: () => void) => void,
    resolve: (result: T) => void,
    fail: (text: string) => void,
  ): Promise<void> {
    const result = await work();
    const isLost = this.#happens(this.#faults.lostReply);
    if (isLost && this.#random.happens(0.5)) return;
    this.#time.after(this.#delay(), () =>
      isLost ? fail('connection lost after the call') : deliver(() => resolve(result)),
    );
  }

  #happens(probability: number): boolean {
    return !this.isCalm && this.#random.happens(probability);
  }

  #delay(): number {
    return this.#happens(this.#faults.slow)
      ? this.#random.between(100, this.#random.pick([1_000, 8_000]))
      : this.#random.between(0.2, 4);
  }
}
