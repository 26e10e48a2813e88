/** How long the ledger keeps growing data. Prices, their revisions, symbols and accounts are kept until they are deleted. */
export interface RetentionRules {
  /** Months of usage, including the current one; more than `LOST_LEASE_MONTHS`. */
  usageMonths: number;
  /** Days for which a revoked or expired key is listed. */
  keysDays: number;
  /** Days for which an import can be undone. */
  importsDays: number;
  /** Days for which the audit log is kept. */
  auditDays: number;
  /** Days for which minutes are kept. Hours are kept without limit. */
  minuteBarsDays: number;
}

/** The defaults. */
export const DEFAULT_RETENTION: RetentionRules = {
  usageMonths: 25,
  keysDays: 90,
  importsDays: 365,
  auditDays: 730,
  minuteBarsDays: 90,
};

/** A lease whose holder has not returned is finally settled this long after the end of its month. */
export const LOST_LEASE_MONTHS = 3;

/** Changes are merged after this time. A follower that is further behind, as after a suspend, reloads. */
export const CHANGES_DAYS = 30;

/** How long decisions about ticks and bars in quarantine are listed. */
export const DECISIONS_DAYS = 30;

/** How long uses of keys are kept by day. */
export const KEY_USE_DAYS = 92;
