import type { KeyUse, KeyUseStore } from '../../ledger/accounts/key-uses.ts';
import type { ApiKey } from '../../ledger/accounts/keys.ts';

const MS_PER_DAY = 86_400_000;

/** A key in memory, with what was counted of it since the last flush. */
export interface CountedKey {
  readonly key: ApiKey;
  uses: DayUses | undefined;
}

/** What was counted of a key on one day. A key is used for a few endpoints, so they are searched. */
interface DayUses {
  readonly day: number;
  readonly byEndpoint: { readonly endpoint: string; units: number }[];
  lastAt: number;
}

/**
 * Counts which key was used for what, for the account page. It is a statistic: the quota is counted by the meter. A count
 * is a few instructions in memory; `flush` adds the counts to the ledger.
 */
export class KeyUses {
  readonly #store: KeyUseStore;
  #counted: { readonly known: CountedKey; readonly uses: DayUses }[] = [];

  constructor(store: KeyUseStore) {
    this.#store = store;
  }

  count(known: CountedKey, endpoint: string, units: number, now: number): void {
    const day = Math.floor(now / MS_PER_DAY);
    const uses = known.uses?.day === day ? known.uses : this.#start(known, day);
    uses.lastAt = now;
    for (const use of uses.byEndpoint) {
      if (use.endpoint !== endpoint) continue;
      use.units += units;
      return;
    }
    uses.byEndpoint.push({ endpoint, units });
  }

  #start(known: CountedKey, day: number): DayUses {
    const uses = { day, byEndpoint: [], lastAt: 0 };
    known.uses = uses;
    this.#counted.push({ known, uses });
    return uses;
  }

  /** Writes the counts. If the ledger does not take them, they are lost: a statistic must not fill the memory in an outage. */
  async flush(): Promise<void> {
    const counted = this.#counted;
    if (counted.length === 0) return;
    this.#counted = [];
    for (const { known } of counted) known.uses = undefined;
    await this.#store.add(counted.flatMap(({ known, uses }) => usesOf(known.key, uses)));
  }
}

function usesOf(key: ApiKey, { day, byEndpoint, lastAt }: DayUses): KeyUse[] {
  return byEndpoint.map(({ endpoint, units }) => ({
    accountId: key.accountId,
    keyId: key.id,
    day,
    endpoint,
    count: units,
    lastAt,
  }));
}
