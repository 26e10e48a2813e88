import type { Period } from './period.ts';

/** Spent units by endpoint. Absolute numbers, never differences, so repeating a message is harmless. */
export type SpentBy = Readonly<Record<string, number>>;

/** How long a process may spend from its leases without contact to the ledger. */
export const LEASE_MS = 60_000;

/**
 * How long after its expiry a silent process keeps its blocks: longer than the slowest restart and the longest outage.
 * Releasing at expiry admitted up to 148 of 700 requests over the quota, because spools were delivered later.
 */
export const HOLD_MS = 15 * 60_000;

/** A recall older than this is ignored: the requests that needed the units have failed after a second. */
export const RECALL_MS = 2_000;

/** A lease's counts in the spool have 28 bits, and it is replaced at half of that. */
export const BLOCK_MAX = 2 ** 26;

export interface PeriodState {
  accountId: string;
  period: Period;
  granted: number;
  used: number;
  /** The spending of old settled leases whose rows were deleted. */
  folded: number;
  /** Raised to get the exact total; leases acknowledge it. */
  barrier: number;
  /** When units were last recalled from all holders. */
  recallAt: number;
  /** When the barrier or the recall last changed. Only programs before schema 15 poll it. */
  signalledAt: number;
  /** The highest threshold that has been reported. */
  notified: number;
}

export interface LeaseState {
  leaseId: string;
  accountId: string;
  period: Period;
  replica: string;
  granted: number;
  spentBy: SpentBy;
  seq: number;
  barrierAck: number;
  open: boolean;
  /** Whether its holder has sent its last message. Later messages repeat it. */
  settled: boolean;
  /** When its holder's right to spend from it ends or ended. */
  expiresAt: number;
  /** When its holder last reported. */
  syncedAt: number;
}

/** A message that requests units, reports spending and returns units. All numbers are absolute. */
export interface SyncRequest {
  leaseId: string;
  accountId: string;
  period: Period;
  replica: string;
  spentBy: SpentBy;
  /** Increases with each message. A message whose answer was lost is repeated with the same number. */
  seq: number;
  /** The most that `granted` should become. A value below the current one returns units. */
  want: number;
  /** The value of `granted` that all waiting requests need. */
  need: number;
  /** The value that at least one waiting request needs: a smaller grant would be useless. */
  least: number;
  /** The newest barrier that the holder had seen before it summed up its spending. */
  barrierSeen: number;
  /** The last message: closes the lease and returns its unspent units. */
  close: boolean;
  /**
   * The sender has the spool record of a lease whose process has died, and becomes its holder. `seq` must be higher than that
   * of any process before it, or a late message could take the lease away again: the sender begins with the time.
   */
  adopt?: true;
}

export interface SyncAnswer {
  leaseId: string;
  /** `elsewhere`: the lease was not opened, because the ledger is in another month. */
  state: 'open' | 'closed' | 'elsewhere';
  /** The number of the last message that was applied. */
  seq: number;
  /** False when this `seq` was already applied. */
  applied: boolean;
  granted: number;
  spent: number;
  used: number;
  quota: number;
  /** Units that nobody holds. */
  pool: number;
  /** Units that other leases hold and have not reported as spent. */
  heldByOthers: number;
  /** Another holder waits for units: return what is not needed. */
  recall: boolean;
  barrier: number;
  now: number;
  /** How long after `now` the sender may spend from its leases; 0 when all of them were released. */
  leaseMs: number;
}

/** The rest of the account, while its period is locked. */
export interface QuotaContext {
  quota: number;
  /** The number of processes that may lease units. */
  holders: number;
  now: number;
  leaseMs: number;
}
