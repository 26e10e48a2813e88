import { askWithKey } from '../api/client.ts';

/** Of the daily closes of one symbol. Absent: too few prices. */
export interface StatisticsOfCloses {
  count: number;
  mean: number;
  median: number;
  standardDeviation?: number;
  volatility?: number;
  minimum: number;
  minimumDate: string;
  maximum: number;
  maximumDate: string;
  maximumDrawdown?: number;
  peakDate?: string;
  troughDate?: string;
}

export interface StatisticsOfRange {
  statistics: Record<string, StatisticsOfCloses>;
  correlation: Record<string, Record<string, number>>;
}

/** The statistics of what a request for history asks for, for one unit. */
export function loadStatistics(
  key: string,
  historyRequest: string,
  signal: AbortSignal,
): Promise<StatisticsOfRange> {
  const query = new URLSearchParams(historyRequest.split('?')[1]);
  query.delete('interval');
  return askWithKey<StatisticsOfRange>(key, `/rates/statistics?${query}`, { signal });
}
