import type { KeyUse, KeyUseStore } from '../../ledger/accounts/key-uses.ts';
import { DAY_MS } from '../../runtime/durations.ts';
import { type Reported, ReportRounds } from '../report-rounds.ts';

/** How old the last use of a key may be on the account page, with many thousands of active keys. With few it is seconds. */
const FLUSH_MS = 300_000;

/** A key in memory, with what was counted of it since the last flush. */
export interface CountedKey extends Reported {
  readonly id: string;
  /** The newest count; the others are linked by `older`. */
  uses: KeyUseCount | undefined;
}

/** How often a key was used for an endpoint on a day. A linked list: a key is used for few endpoints. */
export interface KeyUseCount {
  readonly endpoint: string;
  units: number;
  /** The last use, in ms. All of them were on the same day. */
  lastAt: number;
  readonly older: KeyUseCount | undefined;
}

/**
 * Counts which key was used for what, for the account page. It is a statistic: the quota is counted by the meter. A count
 * is a few instructions in memory; `flush` adds the counts to the ledger. If the ledger does not take them, they are lost: a
 * statistic must not fill the memory in an outage.
 */
export class KeyUses {
  readonly #store: KeyUseStore;
  readonly #rounds = new ReportRounds<CountedKey>(FLUSH_MS);

  constructor(store: KeyUseStore) {
    this.#store = store;
  }

  count(known: CountedKey, endpoint: string, units: number, now: number): void {
    let count = known.uses;
    while (count && (count.endpoint !== endpoint || dayOf(count.lastAt) !== dayOf(now))) count = count.older;
    if (count) {
      count.units += units;
      count.lastAt = now;
    } else {
      if (!known.uses) this.#rounds.add(known);
      known.uses = { endpoint, units, lastAt: now, older: known.uses };
    }
  }

  /** Writes the counts of the keys that are due. Called several times a second. */
  flushDue(mono: number): Promise<void> {
    return this.#write(this.#rounds.takeDue(mono));
  }

  /** Writes all counts. */
  flush(): Promise<void> {
    return this.#write(this.#rounds.takeAll());
  }

  async #write(keys: readonly CountedKey[]): Promise<void> {
    if (keys.length > 0) await this.#store.add(takeUses(keys));
  }
}

/** One use for each key, day and endpoint: a key that was changed in the ledger is counted as another object. */
function takeUses(keys: readonly CountedKey[]): KeyUse[] {
  const uses = new Map<string, KeyUse>();
  for (const known of keys) {
    for (let count = known.uses; count; count = count.older) {
      const { endpoint, units, lastAt } = count;
      const day = dayOf(lastAt);
      const key = `${known.id} ${day} ${endpoint}`;
      const use = uses.get(key);
      if (use) {
        use.count += units;
        use.lastAt = Math.max(use.lastAt, lastAt);
      } else
        uses.set(key, { accountId: known.accountId, keyId: known.id, day, endpoint, count: units, lastAt });
    }
    known.uses = undefined;
  }
  return [...uses.values()];
}

/** Days since 1970, in UTC. */
function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}
