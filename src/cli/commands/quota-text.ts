import { QUOTA_MAX } from '../../ledger/accounts/plans.ts';

/** Formats a quota. The largest value means unlimited. */
export function quotaText(quota: number): string {
  return quota >= QUOTA_MAX ? 'unlimited' : String(quota);
}
