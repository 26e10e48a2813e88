/** A UTC month as a number, such as 202611, by the ledger's time. Quotas are counted per period. */
export type Period = number;

export function periodOf(ms: number): Period {
  const date = new Date(ms);
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1;
}

export function periodStart(period: Period): number {
  return Date.UTC(Math.floor(period / 100), (period % 100) - 1);
}

/** The first millisecond after the period. */
export function periodEnd(period: Period): number {
  return Date.UTC(Math.floor(period / 100), period % 100);
}

/** The period a number of months earlier. */
export function periodBefore(period: Period, months: number): Period {
  return periodOf(Date.UTC(Math.floor(period / 100), (period % 100) - 1 - months));
}
