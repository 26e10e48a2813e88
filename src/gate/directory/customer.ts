import type { Account } from '../../ledger/accounts/accounts.ts';
import type { ApiKey } from '../../ledger/accounts/keys.ts';
import type { Plan } from '../../ledger/accounts/plans.ts';
import { AddressList } from '../addresses.ts';
import type { WindowKey } from '../burst/shared-windows.ts';
import type { CountedEndpoint } from '../endpoints.ts';
import type { MeteredAccount } from '../meter/account-lease.ts';
import type { Lease } from '../meter/lease.ts';
import { NO_PLACE } from '../report-rounds.ts';
import type { CountedKey, Uses } from '../statistics/key-uses.ts';
import type { Visitors } from '../visitors.ts';
import type { CachedKey } from './key-cache.ts';

/** Texts that all accounts share. */
const STATUSES = { active: 'active', suspended: 'suspended', closed: 'closed' } as const;

/** The public account is closed while the page does not give its key to everybody. */
type CustomerStatus = keyof typeof STATUSES;

/**
 * An account in memory, shared by all its keys. There are thousands, and every request reads one: a class keeps its fields in
 * one piece of memory. What a request reads comes first.
 */
export class Customer implements MeteredAccount, WindowKey {
  readonly status: CustomerStatus;
  plan: Plan;
  /** Where the requests of the current second are counted, over all keys and all processes of this machine. */
  windowTag = 0;
  windowAt = 0;
  lease: Lease | undefined;
  /** For the account of the page's public key: limits per address, instead of the account's quota and burst limit. */
  readonly visitors: Visitors | undefined;
  /** The remaining quota as last known. */
  remaining = 0;
  /** When the quota that `remaining` refers to resets; 0 if unknown. */
  resetAt = 0;
  readonly id: string;
  readonly name: string;
  /** The head of the linked list of its cached keys. */
  newestKey: KnownKey | undefined;

  constructor({ id, name }: Account, plan: Plan, status: CustomerStatus, visitors: Visitors | undefined) {
    this.status = STATUSES[status];
    this.plan = plan;
    this.visitors = visitors;
    this.id = id;
    this.name = name;
  }
}

/**
 * A key that was found in the ledger. It is also the result of admitting it, so that nothing is allocated for that. What a
 * request reads comes first. With more than 18 fields, keys would take 40 % more memory.
 */
export class KnownKey implements Omit<ApiKey, 'hash'>, CachedKey, CountedKey {
  readonly customer: Customer;
  readonly revokedAt: number | null;
  readonly expiresAt: number | null;
  readonly headerOnly: boolean;
  readonly allowed: AddressList | undefined;
  usedFor: CountedEndpoint | undefined;
  usedUnits = 0;
  usedAt = 0;
  olderUses: Uses | undefined;
  reportPlace = NO_PLACE;
  cacheEntry = -1;
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  /** The customer's next key in the list. */
  olderKey: KnownKey | undefined;

  constructor(key: ApiKey, customer: Customer) {
    this.customer = customer;
    this.revokedAt = key.revokedAt;
    this.expiresAt = key.expiresAt;
    this.headerOnly = key.headerOnly;
    this.allowed = key.allowedIps === null ? undefined : new AddressList(key.allowedIps);
    this.id = key.id;
    this.name = key.name;
    this.createdAt = key.createdAt;
    this.olderKey = customer.newestKey;
  }

  get ok(): true {
    return true;
  }

  get accountId(): string {
    return this.customer.id;
  }

  get allowedIps(): readonly string[] | null {
    return this.allowed?.entries ?? null;
  }
}
