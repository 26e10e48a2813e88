/** Bars shorter than a day. Their dates are instants in UTC, such as 2024-05-15T14:05:00Z. */

export const INTRADAY_INTERVALS = ['minute', '5min', '15min', 'hour'] as const;
export type ShortInterval = (typeof INTRADAY_INTERVALS)[number];

export const MINUTES: Readonly<Record<ShortInterval, number>> = {
  minute: 1,
  '5min': 5,
  '15min': 15,
  hour: 60,
};

const MINUTE_MS = 60_000;

export function isIntraday(interval: string): interval is ShortInterval {
  return INTRADAY_INTERVALS.some((one) => one === interval);
}

/** Whether a date is an instant rather than a day. */
export function isInstant(date: string): boolean {
  return date.includes('T');
}

export function printInstant(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** The instant some minutes later; earlier, if they are negative. */
export function addMinutes(date: string, minutes: number): string {
  return printInstant(Date.parse(date) + minutes * MINUTE_MS);
}

/** The start of the bar that an instant is in. */
export function startOfBar(at: string, interval: ShortInterval): string {
  const ms = MINUTES[interval] * MINUTE_MS;
  return printInstant(Math.floor(Date.parse(at) / ms) * ms);
}
