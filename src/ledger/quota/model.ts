import type { Period } from './period.ts';

/** What was spent, by endpoint. Always absolute, never a difference, so that saying it twice is harmless. */
export type SpentBy = Readonly<Record<string, number>>;

/** How long a lease may be spent from without word from the ledger. */
export const LEASE_MS = 60_000;

/**
 * How long after its expiry a silent lease keeps its block: longer than the worst restart and the longest outage.
 * Releasing at the expiry let up to 148 of 700 requests over the quota, because a spool came back later.
 */
export const HOLD_MS = 15 * 60_000;

/** A recall older than this is over: who asked has given up after a second. */
export const RECALL_MS = 2_000;

export interface PeriodState {
  accountId: string;
  period: Period;
  granted: number;
  used: number;
  /** What leases spent that were settled long ago, and are no longer kept one by one. */
  folded: number;
  /** Raised by whoever wants the exact total; leases acknowledge it. */
  barrier: number;
  /** When units were last asked back from all holders. */
  recallAt: number;
  /** When the barrier or the recall last changed: replicas look for it. */
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
  /** Whether its holder has said its last word: whatever comes after is that word again. */
  settled: boolean;
  expiresAt: number;
}

/** One call that grants, renews, flushes and gives back. All its numbers are absolute. */
export interface SyncRequest {
  leaseId: string;
  accountId: string;
  period: Period;
  replica: string;
  spentBy: SpentBy;
  /** Grows with each message; a message whose answer was lost is sent again with the same number. */
  seq: number;
  /** What `granted` should become. Lower than now gives units back. */
  want: number;
  /** What `granted` must become for the requests that wait at this moment. */
  need: number;
  /** What it must become at least to serve one of them: a grant of less would be of no use. */
  least: number;
  /** The barrier that the holder had seen before it looked at what it had spent. */
  barrierSeen: number;
  /** The last message: what is unspent goes back, and the lease ends. */
  close: boolean;
}

export interface SyncAnswer {
  leaseId: string;
  /** `elsewhere`: the lease was not opened, because the ledger is in another month. */
  state: 'open' | 'closed' | 'elsewhere';
  /** False when this seq had already been seen and nothing was changed. */
  applied: boolean;
  granted: number;
  spent: number;
  used: number;
  quota: number;
  /** Units that nobody holds. */
  pool: number;
  /** Units that other leases hold and have not reported as spent. */
  heldByOthers: number;
  /** Somebody waits for units: give back what is not needed. */
  recall: boolean;
  barrier: number;
  /** The ledger's time, and how long the lease is good for after it. */
  now: number;
  leaseMs: number;
}

/** What the transaction knows of the rest of the account while its period is locked. */
export interface QuotaContext {
  quota: number;
  openLeases: number;
  now: number;
}
