import type { Syncer, SyncParty } from '../syncer.ts';

interface AccountAdoptions {
  parties: Set<SyncParty>;
  done: PromiseWithResolvers<void>;
}

/**
 * The adoptions that the ledger has not answered yet, by account. Until then an account leases no other units, and what it
 * has used is unknown. A process with many leases starts to serve before all of them are adopted.
 */
export class PendingAdoptions {
  readonly #syncer: Syncer;
  readonly #accounts = new Map<string, AccountAdoptions>();
  #whenEmpty: (() => void)[] = [];

  constructor(syncer: Syncer) {
    this.#syncer = syncer;
  }

  /** Whether this adoption, or any of the account, has no answer yet. */
  has(accountId: string, party?: SyncParty): boolean {
    const account = this.#accounts.get(accountId);
    return account !== undefined && (party === undefined || account.parties.has(party));
  }

  add(accountId: string, party: SyncParty): void {
    const create = () => ({ parties: new Set<SyncParty>(), done: Promise.withResolvers<void>() });
    this.#accounts.getOrInsertComputed(accountId, create).parties.add(party);
  }

  remove(accountId: string, party: SyncParty): void {
    const account = this.#accounts.get(accountId);
    if (!account?.parties.delete(party) || account.parties.size > 0) return;
    this.#accounts.delete(accountId);
    account.done.resolve();
    if (this.#accounts.size === 0) for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }

  /** Sends those of an account before all others. Returns undefined if it has none. */
  hasten(accountId: string): Promise<void> | undefined {
    const account = this.#accounts.get(accountId);
    for (const party of account?.parties ?? []) this.#syncer.enqueue(party, true);
    return account?.done.promise;
  }

  whenEmpty(): Promise<void> {
    if (this.#accounts.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenEmpty.push(resolve));
  }
}
