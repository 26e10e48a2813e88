/** How long the ledger keeps what only grows. Prices, their revisions, symbols and accounts are kept until they are deleted. */
export interface RetentionRules {
  /** Months of usage, the running one included; more than `LOST_LEASE_MONTHS`. */
  usageMonths: number;
  /** Days for which a revoked or expired key is listed. */
  keysDays: number;
  /** Days for which an import can be undone. */
  importsDays: number;
}

/** Where the operator has set nothing. */
export const DEFAULT_RETENTION: RetentionRules = { usageMonths: 25, keysDays: 90, importsDays: 365 };

/** A lease whose holder has not come back is settled for good this long after the end of its month. */
export const LOST_LEASE_MONTHS = 3;

/** Changes are merged after this time. No follower is behind for so long, unless its machine was suspended: then it reloads. */
export const CHANGES_DAYS = 30;

/** For how long decisions about bars in quarantine can be looked up, as those about ticks. */
export const DECISIONS_DAYS = 30;
