import type { Account, FoundKey } from '../../ledger/accounts/accounts.ts';
import type { ApiKey } from '../../ledger/accounts/keys.ts';
import type { Plan } from '../../ledger/accounts/plans.ts';
import { type Ledger, type LedgerHead, mustReload } from '../../ledger/ledger.ts';
import { hashKey } from '../key.ts';
import { PUBLIC_ACCOUNT } from '../onboarding.ts';
import { Visitors } from '../visitors.ts';
import { Customer, KnownKey } from './customer.ts';
import { KeyCache } from './key-cache.ts';
import { KeyLookups } from './key-lookups.ts';

export interface DirectoryOptions {
  ledger: Ledger;
  /** Whether the page gives the key of the public account to everybody. */
  isPublic?: boolean | undefined;
  /** Memory for cached keys. */
  bytesMax?: number | undefined;
}

/** Upper bound: a key with its account takes 580 to 730 bytes of heap (measured), least just before the cache grows. */
const KEY_BYTES = 730;
const ADDRESS_RULE_BYTES = 256;
const BYTES_MAX_DEFAULT = 128 * 1024 * 1024;

/** Each takes as much memory as a cached one. */
const PRELOADED_MAX = 20_000;

/**
 * Keys, accounts and plans by the text of a key. A key is looked up in the ledger by its hash on first use and then
 * cached. Following the ledger drops the entries that have changed.
 */
export class Directory {
  readonly #ledger: Ledger;
  readonly #lookups: KeyLookups;
  readonly #isPublic: boolean;
  /** Kept here, so that a change of the public account or its plan does not reset the limits. */
  readonly #visitors = new Visitors();
  /** An evicted key is looked up again on its next use. */
  readonly cache: KeyCache<KnownKey>;
  /** Keys that were read before their first use, by hash: only their users know their text. */
  readonly #preloaded = new Map<string, FoundKey>();
  readonly #customers = new Map<string, Customer>();
  readonly #plans = new Map<string, Plan>();
  /** The accounts whose plan may have changed, until `follow` returns them: a lookup may apply changes before. */
  readonly #replanned: string[] = [];
  #head: LedgerHead;
  /** Incremented with every change from the ledger. A lookup that a change overtook is repeated. */
  #changes = 0;

  private constructor(options: DirectoryOptions, head: LedgerHead) {
    const { ledger, isPublic = false, bytesMax = BYTES_MAX_DEFAULT } = options;
    this.#ledger = ledger;
    this.#head = head;
    this.#isPublic = isPublic;
    this.cache = new KeyCache(bytesMax, bytesOf, (known) => this.#unlink(known));
    this.#lookups = new KeyLookups((hashes) => ledger.accounts.byKeyHashes(hashes));
  }

  static async open(options: DirectoryOptions): Promise<Directory> {
    const directory = new Directory(options, await options.ledger.head());
    await directory.#reload();
    return directory;
  }

  get plans(): Iterable<Plan> {
    return this.#plans.values();
  }

  get size(): number {
    return this.cache.size;
  }

  /** Grows with every change of accounts, keys and plans. */
  get changes(): number {
    return this.#changes;
  }

  cached(text: string): KnownKey | undefined {
    return this.cache.get(text);
  }

  /** Reads the keys of these accounts, so that their first requests need not wait for the ledger. */
  async preload(accountIds: readonly string[]): Promise<void> {
    const before = this.#changes;
    const found = await this.#ledger.accounts.keysOf(accountIds);
    if (before !== this.#changes || this.#preloaded.size + found.length > PRELOADED_MAX) return; // each is looked up on its first use
    for (const one of found) this.#preloaded.set(one.key.hash, one);
  }

  /** Caches a key if it was preloaded. */
  takePreloaded(text: string): KnownKey | undefined {
    if (this.#preloaded.size === 0) return undefined;
    const hash = hashKey(text);
    const found = this.#preloaded.get(hash);
    if (!found || !this.#plans.has(found.account.plan)) return undefined;
    this.#preloaded.delete(hash);
    return this.#add(text, found.key, found.account);
  }

  /**
   * Looks a key up in the ledger and caches it; undefined when there is no such key. `paced` lookups share a few queries
   * per second.
   */
  async lookUp(text: string, paced = false): Promise<KnownKey | undefined> {
    const hash = hashKey(text);
    for (;;) {
      const before = this.#changes;
      const found = await this.#lookups.find(hash, paced);
      // A key can be used before the directory has loaded a plan that was created with it.
      if (found && !this.#plans.has(found.account.plan)) await this.#apply(await this.#ledger.head());
      if (before !== this.#changes) continue;
      return found && this.#add(text, found.key, found.account);
    }
  }

  /** Drops what has changed in the ledger. Returns the accounts whose plan may have changed since the last call. */
  async follow(head: LedgerHead): Promise<string[]> {
    await this.#apply(head);
    return this.#replanned.splice(0);
  }

  async #apply(head: LedgerHead): Promise<void> {
    if (mustReload(this.#head, head, 'accounts')) return this.#reload();
    if (head.accounts === this.#head.accounts) return;
    const { plans, accountIds, keyOwnerIds } = await this.#ledger.accounts.changes(
      this.#head.accounts,
      head.accounts,
    );
    this.#changes++;
    for (const id of accountIds) this.#replanned.push(id);
    for (const plan of plans) {
      this.#plans.set(plan.name, plan);
      for (const customer of this.#customers.values()) {
        if (customer.plan.name !== plan.name) continue;
        customer.plan = plan;
        this.#replanned.push(customer.id);
      }
    }
    this.#forget(new Set([...accountIds, ...keyOwnerIds]));
    this.#head = head;
  }

  async #reload(): Promise<void> {
    const head = await this.#ledger.head();
    const plans = await this.#ledger.plans.list();
    // No await from here on: a request never sees the directory half empty.
    this.#changes++;
    this.cache.clear();
    this.#preloaded.clear();
    this.#customers.clear();
    this.#plans.clear();
    for (const plan of plans) this.#plans.set(plan.name, plan);
    this.#head = head;
  }

  #add(text: string, key: ApiKey, account: Account): KnownKey {
    const cached = this.cache.get(text); // by another request that looked it up at the same time
    if (cached) return cached;
    const customer = this.#customers.getOrInsertComputed(account.id, () => this.#customerOf(account));
    const known = new KnownKey(key, customer);
    customer.newestKey = known;
    this.cache.add(text, known);
    return known;
  }

  /** Everybody knows the public key, so it has no rights of its own while the page does not give it out. */
  #customerOf(account: Account): Customer {
    const plan = this.#planOf(account);
    if (account.id !== PUBLIC_ACCOUNT) return new Customer(account, plan, account.status, undefined);
    return new Customer(account, plan, this.#isPublic ? account.status : 'closed', this.#visitors);
  }

  /** Drops accounts with their keys. */
  #forget(accountIds: ReadonlySet<string>): void {
    for (const id of accountIds) {
      for (let key = this.#customers.get(id)?.newestKey; key; key = key.olderKey) this.cache.delete(key);
      this.#customers.delete(id);
    }
    for (const [hash, { account }] of this.#preloaded)
      if (accountIds.has(account.id)) this.#preloaded.delete(hash);
  }

  /** For a key that is no longer in the cache. Removes its account with its last key. */
  #unlink(known: KnownKey): void {
    const { customer } = known;
    let link: { olderKey: KnownKey | undefined } | undefined;
    for (let key = customer.newestKey; key && key !== known; key = key.olderKey) link = key;
    if (link) link.olderKey = link.olderKey?.olderKey;
    else customer.newestKey = customer.newestKey?.olderKey;
    if (!customer.newestKey && this.#customers.get(customer.id) === customer)
      this.#customers.delete(customer.id);
  }

  #planOf(account: Account): Plan {
    const plan = this.#plans.get(account.plan);
    if (!plan)
      throw new Error(`account ${account.id} has the plan ${account.plan}, which is not in the ledger`);
    return plan;
  }
}

function bytesOf({ allowed }: KnownKey): number {
  return KEY_BYTES + ADDRESS_RULE_BYTES * (allowed?.entries.length ?? 0);
}
