import { AccountLease } from '../../src/gate/meter/account-lease.ts';
import { QuotaHolder, type Validity } from '../../src/gate/meter/holder.ts';
import { Lease } from '../../src/gate/meter/lease.ts';
import { QuotaStore } from '../../src/ledger/quota/quota.ts';

/** A rule of the meter that is broken on purpose: the simulator must notice. */
export interface Mistake {
  name: string;
  /** The faults under which it does harm. */
  mix: string;
  /** Breaks the rule. Returns a function that restores it. */
  plant(): () => void;
}

export const MISTAKES: readonly Mistake[] = [
  {
    name: 'a holder ignores that its units are recalled',
    mix: 'calm',
    plant: () => {
      const restoreSignals = replace(AccountLease.prototype, 'onSignal', () => () => {});
      const restoreAnswers = replace(
        Lease.prototype,
        'apply',
        (original) =>
          function (this: Lease, answer) {
            original.call(this, { ...answer, recall: false });
          },
      );
      return () => {
        restoreSignals();
        restoreAnswers();
      };
    },
  },
  {
    name: 'units can be spent while they are being returned',
    mix: 'slow network',
    plant: () =>
      replace(
        Lease.prototype,
        'syncRequest',
        (original) =>
          function (this: Lease, ...args) {
            const { limit } = this;
            const request = original.apply(this, args);
            this.limit = limit;
            return request;
          },
      ),
  },
  {
    name: 'units can be spent from a closed lease, to which an account still refers',
    mix: 'pauses beyond the hold',
    plant: () => {
      const restoreRight = keepOneRight();
      const restoreLimit = replace(
        Lease.prototype,
        'closeRequest',
        (original) =>
          function (this: Lease) {
            const { limit } = this;
            const request = original.call(this);
            this.limit = limit;
            return request;
          },
      );
      return () => {
        restoreRight();
        restoreLimit();
      };
    },
  },
  {
    name: 'a barrier is acknowledged without the counts before it',
    mix: 'calm',
    plant: () =>
      replace(
        Lease.prototype,
        'syncRequest',
        (original) =>
          function (this: Lease, ...args) {
            return { ...original.apply(this, args), spentBy: {} };
          },
      ),
  },
  {
    name: 'an adopted lease forgets what was spent',
    mix: 'kills',
    plant: () =>
      replace(Lease, 'adopted', (original) => (...args) => {
        const lease = original.apply(Lease, args);
        lease.spent = 0;
        return lease;
      }),
  },
  {
    name: 'a late adoption by a dead process takes the lease away again',
    mix: 'restarts on a slow network',
    plant: () => {
      let newest = Number.MAX_SAFE_INTEGER / 2;
      return replace(
        QuotaStore.prototype,
        'sync',
        (original) =>
          function (this: QuotaStore, requests, sender) {
            newest += 1_000;
            const renumbered = requests.map((one) => (one.adopt ? { ...one, seq: newest } : one));
            return original.call(this, renumbered, sender);
          },
      );
    },
  },
];

/** Replaces a method. Returns a function that restores it. */
function replace<T extends object, K extends keyof T>(
  target: T,
  name: K,
  broken: (original: T[K]) => T[K],
): () => void {
  const original = target[name];
  target[name] = broken(original);
  return () => {
    target[name] = original;
  };
}

/** A process that takes a new name keeps its right to spend from the leases that it took under the old one. */
function keepOneRight(): () => void {
  const rights = new WeakMap<QuotaHolder, Validity>();
  const descriptor = Object.getOwnPropertyDescriptor(QuotaHolder.prototype, 'validity')!;
  Object.defineProperty(QuotaHolder.prototype, 'validity', {
    ...descriptor,
    get(this: QuotaHolder) {
      const current = descriptor.get!.call(this) as Validity;
      const first = rights.getOrInsert(this, current);
      return Object.assign(first, { ...current });
    },
  });
  return () => Object.defineProperty(QuotaHolder.prototype, 'validity', descriptor);
}
