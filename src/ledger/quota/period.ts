/** A UTC month as a number: 202611. Quotas are counted by it, and it goes by the ledger's time. */
export type Period = number;

export function periodOf(ms: number): Period {
  const date = new Date(ms);
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1;
}

export function periodStart(period: Period): number {
  return Date.UTC(Math.floor(period / 100), (period % 100) - 1);
}

/** The first millisecond that is no longer in the period. */
export function periodEnd(period: Period): number {
  return Date.UTC(Math.floor(period / 100), period % 100);
}

/** The period this many months before. */
export function periodBefore(period: Period, months: number): Period {
  return periodOf(Date.UTC(Math.floor(period / 100), (period % 100) - 1 - months));
}
