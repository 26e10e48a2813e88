import type { KeyUse, KeyUseStore } from '../../ledger/accounts/key-uses.ts';

const MS_PER_DAY = 86_400_000;

/** A key in memory, with what was counted of it since the last flush. */
export interface CountedKey {
  id: string;
  accountId: string;
  /** The newest count; the others are linked by `older`. */
  uses: KeyUseCount | undefined;
}

/** How often a key was used for an endpoint on a day. A linked list: a key is used for few endpoints. */
export interface KeyUseCount {
  readonly known: CountedKey;
  readonly day: number;
  readonly endpoint: string;
  units: number;
  lastAt: number;
  readonly older: KeyUseCount | undefined;
}

/**
 * Counts which key was used for what, for the account page. It is a statistic: the quota is counted by the meter. A count
 * is a few instructions in memory; `flush` adds the counts to the ledger.
 */
export class KeyUses {
  readonly #store: KeyUseStore;
  #counts: KeyUseCount[] = [];

  constructor(store: KeyUseStore) {
    this.#store = store;
  }

  count(known: CountedKey, endpoint: string, units: number, now: number): void {
    const day = Math.floor(now / MS_PER_DAY);
    let count = known.uses;
    while (count && (count.endpoint !== endpoint || count.day !== day)) count = count.older;
    if (count) {
      count.units += units;
      count.lastAt = now;
    } else {
      known.uses = { known, day, endpoint, units, lastAt: now, older: known.uses };
      this.#counts.push(known.uses);
    }
  }

  /** Writes the counts. If the ledger does not take them, they are lost: a statistic must not fill the memory in an outage. */
  async flush(): Promise<void> {
    const counts = this.#counts;
    if (counts.length === 0) return;
    this.#counts = [];
    for (const { known } of counts) known.uses = undefined;
    await this.#store.add(counts.map(useOf));
  }
}

function useOf({ known, day, endpoint, units, lastAt }: KeyUseCount): KeyUse {
  return { accountId: known.accountId, keyId: known.id, day, endpoint, count: units, lastAt };
}
