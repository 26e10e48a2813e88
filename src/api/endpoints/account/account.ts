import { keyRecord } from '../../keys/key-records.ts';
import type { OwnerEndpoint } from '../../model/endpoint.ts';
import { spanDaysMax } from '../../params/parameters.ts';
import { dailyUsage } from './daily-usage.ts';
import { staleness } from './usage.ts';

/** GET /account: the account, its plan, and the restrictions of the key in use. */
export const account: OwnerEndpoint = {
  kind: 'owner',
  name: 'account',
  path: '/account',
  actions: {
    async GET({ customer: { id, name, status, plan }, key, now, dialect }) {
      const maxSpanDays = spanDaysMax(plan, dialect);
      const limits = { ...plan, maxSpanDays };
      return { success: true, account: { id, name, status }, plan: limits, key: keyRecord(key, now) };
    },
  },
};

/**
 * GET /usage/daily: usage by day, endpoint and key, and the quota thresholds that were reached. If counts may be missing, the
 * response says so, and since when, as that of /usage does.
 */
export const usageDaily: OwnerEndpoint = {
  kind: 'owner',
  name: 'usage-daily',
  path: '/usage/daily',
  actions: {
    async GET({ customer: { id }, meter, ledger, now }) {
      const reported = await meter.reportedUsage(id); // makes every replica write its counts to the ledger first
      return { success: true, ...(await dailyUsage(ledger, id, now)), ...staleness(reported) };
    },
  },
};
