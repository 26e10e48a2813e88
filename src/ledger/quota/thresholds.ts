import type { PeriodState } from './model.ts';

/** Each is reported to the account's owner once a month. */
const THRESHOLDS_PERCENT = [75, 90, 100] as const;

/** The thresholds that were reached and not yet reported; marks them as reported. */
export function crossThresholds(period: PeriodState, quota: number): number[] {
  if (quota <= 0) return [];
  const reached = THRESHOLDS_PERCENT.filter((percent) => period.used * 100 >= percent * quota);
  const fresh = reached.filter((percent) => percent > period.notified);
  period.notified = Math.max(period.notified, ...reached);
  return fresh;
}
