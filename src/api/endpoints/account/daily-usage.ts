import type { Ledger } from '../../../ledger/ledger.ts';
import { printDay, utcDay } from '../../../market/day.ts';

/** The longest month. */
const USAGE_DAYS = 31;

/** Usage of an account by day, endpoint and key, and the quota thresholds that it reached. */
export async function dailyUsage(ledger: Ledger, account: string, now: number) {
  const last = utcDay(await ledger.quota.now());
  const first = last - USAGE_DAYS + 1;
  const days = await ledger.quota.usageByDay(account, first, last);
  const uses = await ledger.keyUses.of(account, utcDay(now) - USAGE_DAYS + 1); // counted by this process's clock
  const events = await ledger.quota.events(account);
  return {
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
}
