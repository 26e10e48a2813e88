import type { QuotaStore } from '../../ledger/quota/quota.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Scheduler } from '../../runtime/scheduler.ts';
import type { LockSlot } from '../spool/slot-lock.ts';

export interface MeterOptions {
  ledger: { readonly quota: QuotaCalls };
  clock: Clock;
  /** A folder of this machine's own that survives restarts. */
  spoolDir: string;
  /** A unique name for this process in the ledger. */
  replica?: string;
  warn?: (text: string) => void;
  monotonic?: Clock;
  scheduler?: Scheduler;
  newId?: () => string;
  lock?: LockSlot;
  spoolRecordsPerFile?: number;
  /** How long the spool keeps a lease that the ledger has settled, for a ledger that can lose its last writes. */
  keepSettledMs?: number;
  /** How old a count becomes before it is reported to the ledger. */
  flushMs?: number;
  /** How many accounts are reported in one transaction. */
  batchMax?: number;
  /** What is counted, each in a counter of its own; `COUNTED_ENDPOINTS` unless a test adds to them. */
  endpoints?: readonly string[];
}

export type QuotaCalls = Pick<
  QuotaStore,
  | 'sync'
  | 'renew'
  | 'leave'
  | 'raiseBarrier'
  | 'signals'
  | 'usage'
  | 'usageWithoutLease'
  | 'releaseLost'
  | 'foldSettled'
  | 'deleteUnused'
  | 'now'
>;
