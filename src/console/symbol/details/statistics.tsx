import { useLoad } from '../../api/load.ts';
import { useParam } from '../../data/route.ts';
import { loadStatistics } from '../../data/statistics.ts';
import { lazy } from '../../show/lazy.tsx';
import { Failure, Loading } from '../../show/parts.tsx';

const StatisticsTable = lazy(
  async () => (await import('./statistics-table.tsx')).StatisticsTable,
  LoadingStatistics,
);

/** Statistics of the days shown, once the user wants them: they cost a unit of the quota. */
export function StatisticsCard({ request, apiKey }: { request: string; apiKey: string }) {
  const [asked, setAsked] = useParam('statistics', '');
  const isWanted = asked !== '';
  const loaded = useLoad(
    async (signal) => (isWanted ? loadStatistics(apiKey, request, signal) : undefined),
    [apiKey, request, isWanted],
  );
  return (
    <section class="card" aria-labelledby="statistics-title">
      <div class="card-head">
        <h2 id="statistics-title">Statistics</h2>
        {!isWanted && (
          <button type="button" class="button small" onClick={() => setAsked('1')}>
            Show statistics
          </button>
        )}
      </div>
      {!isWanted && (
        <p class="hint">
          Mean, volatility, drawdown and correlations of the closes in this range. Costs one unit.
        </p>
      )}
      {loaded.state === 'failed' && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {isWanted && loaded.state === 'loading' && <LoadingStatistics />}
      {loaded.data && <StatisticsTable answer={loaded.data} />}
    </section>
  );
}

function LoadingStatistics() {
  return <Loading label="Loading statistics" lines={4} />;
}
