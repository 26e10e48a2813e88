import { printDay, utcDay } from '../../../market/day.ts';
import { keyRecord } from '../../keys/key-records.ts';
import type { OwnerEndpoint } from '../../model/endpoint.ts';
import { spanDaysMax } from '../../params/parameters.ts';

/** The longest month. */
const USAGE_DAYS = 31;

/** GET /account: the account, its plan, and the restrictions of the key in use. */
export const account: OwnerEndpoint = {
  kind: 'owner',
  name: 'account',
  path: '/account',
  actions: {
    async GET({ customer: { account, plan }, key, now, dialect }) {
      const { id, name, status } = account;
      const maxSpanDays = spanDaysMax(plan, dialect);
      const limits = { ...plan, maxSpanDays };
      return { success: true, account: { id, name, status }, plan: limits, key: keyRecord(key, now) };
    },
  },
};

/** GET /usage/daily: usage by day, endpoint and key, and the quota thresholds that were reached. */
export const usageDaily: OwnerEndpoint = {
  kind: 'owner',
  name: 'usage-daily',
  path: '/usage/daily',
  actions: {
    async GET({ customer: { account }, meter, ledger, now }) {
      await meter.reportedUsage(account.id);
      const last = utcDay(await ledger.quota.now());
      const first = last - USAGE_DAYS + 1;
      const days = await ledger.quota.usageByDay(account.id, first, last);
      const uses = await ledger.keyUses.of(account.id, utcDay(now) - USAGE_DAYS + 1); // counted by this process's clock
      const events = await ledger.quota.events(account.id);
      return {
        success: true,
        startDate: printDay(first),
        endDate: printDay(last),
        byKey: uses.map(({ day, keyId, endpoint, count }) => ({
          date: printDay(day),
          key: keyId,
          endpoint,
          count,
        })),
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
