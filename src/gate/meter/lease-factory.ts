import type { Spool, SpoolRecord } from '../spool/spool.ts';
import type { Owner } from '../spool/spool-record.ts';
import type { QuotaHolder } from './holder.ts';
import { Lease } from './lease.ts';
import type { LedgerTime } from './timing/ledger-time.ts';

/** With it, a lease's id has 36 characters at most, for which the spool has room. Our own account ids are shorter. */
const ACCOUNT_CHARS_MAX = 19;

/** Every attempt on a full disk writes a file, so there is one per second. */
const SPOOL_RETRY_MS = 1_000;

export interface LeaseFactoryOptions {
  spool: Spool;
  time: LedgerTime;
  holder: QuotaHolder;
  newId: () => string;
  warn: (text: string) => void;
}

/** Opens leases, each with a record in the spool. */
export class LeaseFactory {
  readonly #options: LeaseFactoryOptions;
  #spoolFullUntil = Number.NEGATIVE_INFINITY;

  constructor(options: LeaseFactoryOptions) {
    this.#options = options;
  }

  /** Allocates the records of the first leases at the start: later, a request waits and the disk may be full. */
  reserve(): void {
    const { spool, warn } = this.#options;
    try {
      spool.reserve();
    } catch (error) {
      warn(`the spool has no room: ${error}`);
    }
  }

  /** Undefined while the disk is full. */
  open(accountId: string): Lease | undefined {
    const { time, newId, holder } = this.#options;
    // The id belongs to the lease, not to the process: an old message must never match a new lease. It begins with the account's,
    // so that leases are stored in the order in which accounts are reported.
    const leaseId = `${accountId.slice(0, ACCOUNT_CHARS_MAX)}.${newId()}`;
    const owner = { accountId, period: time.period(), leaseId, replica: holder.replica };
    const record = this.#addRecord(owner);
    return record && new Lease(owner, record, holder.validity);
  }

  #addRecord(owner: Owner): SpoolRecord | undefined {
    const { spool, time, warn } = this.#options;
    if (time.read().mono < this.#spoolFullUntil) return undefined;
    try {
      return spool.add(owner);
    } catch (error) {
      this.#spoolFullUntil = time.read().mono + SPOOL_RETRY_MS;
      warn(`the spool has no room for a lease, so its account's requests are refused: ${error}`);
      return undefined;
    }
  }
}

/** 16 characters: short enough to be a part of a lease's id. */
export function randomId(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(12))).toString('base64url');
}
