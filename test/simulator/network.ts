import type { QuotaCalls } from '../../src/gate/meter/meter.ts';
import type { QuotaStore } from '../../src/ledger/quota/quota.ts';
import type { Chance, World } from './world.ts';

export interface NetworkFaults {
  /** A call that never reaches the ledger. */
  lostRequest: number;
  /** A call that is done, and whose answer never comes back: the caller cannot tell the two apart. */
  lostReply: number;
  /** A call that takes seconds: its caller has long given up, and may have sent the next one. */
  slow: number;
}

/** Between replicas and the real ledger. Each call is done at one instant, in the order of arrival. */
export class Network {
  readonly #world: World;
  readonly #chance: Chance;
  readonly #quota: QuotaStore;
  readonly #faults: NetworkFaults;
  /** After every call that may have changed the ledger. */
  readonly #changed: () => Promise<void>;
  /** Around a release, to see which leases were let go. */
  readonly #released: (release: () => Promise<number>) => Promise<number>;
  isDown = false;
  /** At the end of a run everything heals. */
  isCalm = false;

  constructor(options: {
    world: World;
    chance: Chance;
    quota: QuotaStore;
    faults: NetworkFaults;
    changed: () => Promise<void>;
    released: (release: () => Promise<number>) => Promise<number>;
  }) {
    this.#world = options.world;
    this.#chance = options.chance;
    this.#quota = options.quota;
    this.#faults = options.faults;
    this.#changed = options.changed;
    this.#released = options.released;
  }

  /** The ledger as one process sees it. `deliver` brings an answer, if the process still lives, when it runs. */
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
      sync: through(checked((requests) => quota.sync(requests))),
      raiseBarrier: through(checked((accountId, period) => quota.raiseBarrier(accountId, period))),
      releaseLost: through(checked(() => this.#released(() => quota.releaseLost()))),
      foldSettled: through(checked(() => quota.foldSettled())),
      signals: through((since) => quota.signals(since)),
      usageBeside: through((accountId, period, leaseId) => quota.usageBeside(accountId, period, leaseId)),
      usage: through((accountId, period, barrier) => quota.usage(accountId, period, barrier)),
      now: through(() => quota.now()),
    };
  }

  #call<T>(work: () => Promise<T>, deliver: (call: () => void) => void): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const fail = (text: string) => deliver(() => reject(new Error(text)));
    if (this.#happens(this.#faults.lostRequest)) {
      if (this.#chance.happens(0.5))
        this.#world.after(this.#delay(), () => fail('connection lost before the call'));
      return promise;
    }
    this.#world.after(this.#delay(), () => {
      if (this.isDown) return fail('connection refused');
      this.#world.work(this.#do(work, deliver, resolve, fail));
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
    if (isLost && this.#chance.happens(0.5)) return;
    this.#world.after(this.#delay(), () =>
      isLost ? fail('connection lost after the call') : deliver(() => resolve(result)),
    );
  }

  #happens(probability: number): boolean {
    return !this.isCalm && this.#chance.happens(probability);
  }

  #delay(): number {
    return this.#happens(this.#faults.slow)
      ? this.#chance.between(100, this.#chance.pick([1_000, 8_000]))
      : this.#chance.between(0.2, 4);
  }
}
