/** The intervals shorter than a day. They are aligned to UTC. */
export const INTRADAY_INTERVALS = ['minute', '5min', '15min', 'hour'] as const;

export type IntradayInterval = (typeof INTRADAY_INTERVALS)[number];

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

export const INTRADAY_MS: Readonly<Record<IntradayInterval, number>> = {
  minute: MINUTE_MS,
  '5min': 5 * MINUTE_MS,
  '15min': 15 * MINUTE_MS,
  hour: HOUR_MS,
};

/** The start of the interval of `ms` that contains an instant. */
export function startOf(at: number, ms: number): number {
  return at - (((at % ms) + ms) % ms);
}

/** Instants with `from` ≤ t < `to`, in ms. */
export interface TimeRange {
  from: number;
  to: number;
}
