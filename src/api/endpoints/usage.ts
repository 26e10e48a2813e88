import type { AccountEndpoint } from '../endpoint.ts';

/** GET /usage: plan, quota and what was used of it, exact over all replicas. */
export const usage: AccountEndpoint = {
  kind: 'account',
  name: 'usage',
  path: '/usage',
  async answer({ account, plan }, meter) {
    const { used } = await meter.usage(account.id);
    return {
      success: true,
      plan: plan.name,
      quota: plan.quota,
      used,
      remaining: Math.max(0, plan.quota - used),
      resetAt: Math.floor(meter.resetAt() / 1000),
    };
  },
};
