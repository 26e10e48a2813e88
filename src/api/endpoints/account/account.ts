import { printDay, utcDay } from '../../../market/day.ts';
import type { OwnerEndpoint } from '../../model/endpoint.ts';
import { keyRecord } from './keys.ts';

/** How many days of usage are told: a month, whichever it is. */
const USAGE_DAYS = 31;

/** GET /account: whose key it is, what its plan allows, and the key's own rules. */
export const account: OwnerEndpoint = {
  kind: 'owner',
  name: 'account',
  path: '/account',
  actions: {
    async GET({ customer: { account, plan }, key, now }) {
      const { id, name, status } = account;
      return { success: true, account: { id, name, status }, plan, key: keyRecord(key, now) };
    },
  },
};

/** GET /usage/daily: what was counted on each day, by endpoint, and the shares of the quota that were reached. */
export const usageDaily: OwnerEndpoint = {
  kind: 'owner',
  name: 'usage-daily',
  path: '/usage/daily',
  actions: {
    async GET({ customer: { account }, meter, ledger }) {
      await meter.reportedUsage(account.id);
      const last = utcDay(await ledger.quota.now());
      const first = last - USAGE_DAYS + 1;
      const days = await ledger.quota.usageByDay(account.id, first, last);
      const events = await ledger.quota.events(account.id);
      return {
        success: true,
        startDate: printDay(first),
        endDate: printDay(last),
        days: days.map(({ day, endpoint, count }) => ({ date: printDay(day), endpoint, count })),
        events: events.map(({ percent, used, quota, at }) => ({
          percent,
          used,
          quota,
          at: Math.floor(at / 1000),
        })),
      };
    },
  },
};
