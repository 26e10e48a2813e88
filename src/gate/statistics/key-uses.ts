import type { KeyUse, KeyUseStore } from '../../ledger/accounts/key-uses.ts';
import { DAY_MS } from '../../runtime/durations.ts';
import type { CountedEndpoint } from '../endpoints.ts';
import { type Reported, ReportRounds } from '../report-rounds.ts';

/** How old the last use of a key may be on the account page, with many thousands of active keys. With few it is seconds. */
const FLUSH_MS = 300_000;

/**
 * A key in memory, with its uses since the last flush. Those that were counted last are fields of the key: most requests
 * then read no other object.
 */
export interface CountedKey extends Reported {
  readonly id: string;
  /** Undefined when there are no uses. */
  usedFor: CountedEndpoint | undefined;
  usedUnits: number;
  usedAt: number;
  olderUses: Uses | undefined;
}

/** How often a key was used for an endpoint on a day. A linked list: a key is used for few endpoints. */
export interface Uses {
  endpoint: CountedEndpoint;
  units: number;
  /** The last use, in ms. All of them were on the same day. */
  lastAt: number;
  readonly next: Uses | undefined;
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

  count(known: CountedKey, endpoint: CountedEndpoint, units: number, now: number): void {
    if (known.usedFor !== endpoint || dayOf(known.usedAt) !== dayOf(now)) this.#begin(known, endpoint, now);
    known.usedUnits += units;
    known.usedAt = now;
  }

  /** Makes the uses for this endpoint and day the ones to be counted. */
  #begin(known: CountedKey, endpoint: CountedEndpoint, now: number): void {
    const { usedFor, usedUnits, usedAt, olderUses } = known;
    let same = olderUses;
    while (same && (same.endpoint !== endpoint || dayOf(same.lastAt) !== dayOf(now))) same = same.next;
    known.usedFor = endpoint;
    known.usedUnits = same?.units ?? 0;
    if (usedFor === undefined) this.#rounds.add(known);
    else if (!same)
      known.olderUses = { endpoint: usedFor, units: usedUnits, lastAt: usedAt, next: olderUses };
    else {
      same.endpoint = usedFor;
      same.units = usedUnits;
      same.lastAt = usedAt;
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
  const all = new Map<string, KeyUse>();
  for (const known of keys) {
    for (let uses = usesOf(known); uses; uses = uses.next) {
      const { endpoint, units, lastAt } = uses;
      const day = dayOf(lastAt);
      const key = `${known.id} ${day} ${endpoint}`;
      const use = all.get(key);
      if (use) {
        use.count += units;
        use.lastAt = Math.max(use.lastAt, lastAt);
      } else
        all.set(key, { accountId: known.accountId, keyId: known.id, day, endpoint, count: units, lastAt });
    }
    known.usedFor = undefined;
    known.olderUses = undefined;
  }
  return [...all.values()];
}

/** All uses of a key, those that were counted last first. */
function usesOf({ usedFor, usedUnits, usedAt, olderUses }: CountedKey): Uses | undefined {
  if (usedFor === undefined) return undefined;
  return { endpoint: usedFor, units: usedUnits, lastAt: usedAt, next: olderUses };
}

/** Days since 1970, in UTC. */
function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}
