import { useLoad } from '../../api/load.ts';
import { loadStatistics } from '../../data/statistics.ts';
import { Failure, Loading } from '../../show/parts.tsx';
import { StatisticsTable } from './statistics-table.tsx';

export interface StatisticsProps {
  request: string;
  /** When the prices in the chart were asked for: statistics of corrected prices are others. */
  askedAt: number;
  apiKey: string;
}

export function LoadedStatistics({ request, askedAt, apiKey }: StatisticsProps) {
  const loaded = useLoad((signal) => loadStatistics(apiKey, request, signal), [apiKey, request, askedAt]);
  return (
    <>
      {loaded.state === 'failed' && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {loaded.state === 'loading' && <Loading label="Loading statistics" lines={4} />}
      {loaded.data && <StatisticsTable answer={loaded.data} />}
    </>
  );
}
