import { QUOTA_MAX } from '../../ledger/accounts/plans.ts';

/** A quota for people: the largest one stands for none. */
export function quotaText(quota: number): string {
  return quota >= QUOTA_MAX ? 'unlimited' : String(quota);
}
