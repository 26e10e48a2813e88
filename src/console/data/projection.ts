const DAY_SECONDS = 86_400;
/** A pace over a week evens out working days and weekends. */
const PACE_DAYS = 7;

/** Projects the usage of a month: the usage so far, and the mean of the last seven days for each remaining day. */
export function projection(
  { used, resetAt }: { used: number; resetAt: number },
  days: readonly { date: string; count: number }[],
  nowSeconds: number,
): number {
  const from = new Date((nowSeconds - PACE_DAYS * DAY_SECONDS) * 1000).toISOString().slice(0, 10);
  const recent = days.filter(({ date }) => date > from).reduce((sum, one) => sum + one.count, 0);
  const left = Math.max(0, resetAt - nowSeconds) / DAY_SECONDS;
  return Math.round(used + (recent / PACE_DAYS) * left);
}
