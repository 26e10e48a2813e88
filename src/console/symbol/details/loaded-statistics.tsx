import { useLoad } from '../../api/load.ts';
import { loadStatistics } from '../../data/statistics.ts';
import { Failure, Loading } from '../../show/parts.tsx';
import { StatisticsTable } from './statistics-table.tsx';

export function LoadedStatistics({ request, apiKey }: { request: string; apiKey: string }) {
  const loaded = useLoad((signal) => loadStatistics(apiKey, request, signal), [apiKey, request]);
  return (
    <>
      {loaded.state === 'failed' && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {loaded.state === 'loading' && <Loading label="Loading statistics" lines={4} />}
      {loaded.data && <StatisticsTable answer={loaded.data} />}
    </>
  );
}
