import type { KnownUsage } from '../../../gate/meter/account-lease.ts';
import type { AccountEndpoint } from '../../model/endpoint.ts';

/** GET /usage: plan, quota and usage over all replicas. If the count may be stale, the response says so, and since when. */
export const usage: AccountEndpoint = {
  kind: 'account',
  name: 'usage',
  path: '/usage',
  async answer({ id, plan }, meter) {
    const known = await meter.usage(id);
    return {
      success: true,
      plan: plan.name,
      quota: plan.quota,
      used: known.used,
      remaining: Math.max(0, plan.quota - known.used),
      resetAt: Math.floor(meter.resetAt() / 1000),
      ...staleness(known),
    };
  },
};

/** The fields that mark a count that may be stale. */
export function staleness({ exact, asOf }: KnownUsage): { exact?: false; asOf?: number } {
  return exact ? {} : { exact, asOf: Math.floor(asOf / 1000) };
}
