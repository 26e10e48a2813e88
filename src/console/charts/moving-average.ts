import type { ChartBar } from '../api/answers.ts';

export interface AveragePoint {
  date: string;
  value: number;
}

/** The mean of the last `length` closes at each bar that has as many. */
export function movingAverage(bars: readonly ChartBar[], length: number): AveragePoint[] {
  const points: AveragePoint[] = [];
  let sum = 0;
  for (const [i, { date, close }] of bars.entries()) {
    sum += close - (bars[i - length]?.close ?? 0);
    if (i >= length - 1) points.push({ date, value: sum / length });
  }
  return points;
}
