import type { KeyUse, KeyUseStore } from '../../ledger/accounts/key-uses.ts';
import type { ApiKey } from '../../ledger/accounts/keys.ts';

const MS_PER_DAY = 86_400_000;

/** What was counted of one key on one day, since the last flush. */
interface Counted {
  day: number;
  key: ApiKey;
  units: Map<string, number>;
  lastAt: number;
}

/**
 * Counts which key was used for what, for the account page. It is a statistic: the quota is counted by the meter. A count
 * is a few instructions in memory; `flush` adds the counts to the ledger.
 */
export class KeyUses {
  readonly #store: KeyUseStore;
  #counted = new Map<string, Counted>();
  /** Counts of a day that has ended. */
  #ended: Counted[] = [];

  constructor(store: KeyUseStore) {
    this.#store = store;
  }

  count(key: ApiKey, endpoint: string, units: number, now: number): void {
    const day = Math.floor(now / MS_PER_DAY);
    let counted = this.#counted.get(key.id);
    if (counted?.day !== day) {
      if (counted) this.#ended.push(counted);
      counted = { day, key, units: new Map(), lastAt: now };
      this.#counted.set(key.id, counted);
    }
    counted.units.set(endpoint, (counted.units.get(endpoint) ?? 0) + units);
    counted.lastAt = now;
  }

  /** Writes the counts. If the ledger does not take them, they are lost: a statistic must not fill the memory in an outage. */
  async flush(): Promise<void> {
    const all = [...this.#ended, ...this.#counted.values()];
    if (all.length === 0) return;
    this.#counted = new Map();
    this.#ended = [];
    await this.#store.add(all.flatMap(usesOf));
  }
}

function usesOf({ day, key, units, lastAt }: Counted): KeyUse[] {
  return [...units].map(([endpoint, count]) => ({
    accountId: key.accountId,
    keyId: key.id,
    day,
    endpoint,
    count,
    lastAt,
  }));
}
