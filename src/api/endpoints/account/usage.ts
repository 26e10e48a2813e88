import type { AccountEndpoint } from '../../model/endpoint.ts';

/** GET /usage: plan, quota and usage over all replicas. If the count may be stale, the response says so, and since when. */
export const usage: AccountEndpoint = {
  kind: 'account',
  name: 'usage',
  path: '/usage',
  async answer({ id, plan }, meter) {
    const { used, exact, asOf } = await meter.usage(id);
    return {
      success: true,
      plan: plan.name,
      quota: plan.quota,
      used,
      remaining: Math.max(0, plan.quota - used),
      resetAt: Math.floor(meter.resetAt() / 1000),
      ...(!exact && { exact, asOf: Math.floor(asOf / 1000) }),
    };
  },
};
