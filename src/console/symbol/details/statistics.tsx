import { useParam } from '../../data/route.ts';
import { lazy } from '../../show/lazy.tsx';
import { Loading } from '../../show/parts.tsx';
import type { StatisticsProps } from './loaded-statistics.tsx';

const LoadedStatistics = lazy(
  async () => (await import('./loaded-statistics.tsx')).LoadedStatistics,
  LoadingStatistics,
);

/** Statistics of the days shown, once the user wants them: they cost a unit of the quota. */
export function StatisticsCard(props: StatisticsProps) {
  const [asked, setAsked] = useParam('statistics', '');
  const isWanted = asked !== '';
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
      {isWanted && <LoadedStatistics {...props} />}
    </section>
  );
}

function LoadingStatistics() {
  return <Loading label="Loading statistics" lines={4} />;
}
