import { useMemo } from 'preact/hooks';
import type { ChartBar, MarketSymbol } from '../../api/answers.ts';
import { useLoad } from '../../api/load.ts';
import { loadModule } from '../../api/load-module.ts';
import type { CorrectionMark } from '../../charts/drawing.ts';
import type { Correction } from '../../data/revisions.ts';
import { lazy } from '../../show/lazy.tsx';
import { Failure, Loading } from '../../show/parts.tsx';

const RevisionsTable = lazy(
  async () => (await import('./revisions-table.tsx')).RevisionsTable,
  () => <Loading label="Loading corrections" />,
);

/** More labels would cover the chart. */
const LABELS_MAX = 12;

/** Corrections of the days shown, and where to mark them. */
export function useRevisions(key: string, symbol: MarketSymbol, bars: readonly ChartBar[] | undefined) {
  const range = `${bars?.[0]?.date} ${bars?.at(-1)?.date}`;
  const loaded = useLoad(
    async (signal) => {
      if (!bars) return NONE;
      const { loadCorrections, markedDays } = await loadModule(() => import('../../data/revisions.ts'));
      const corrections = await loadCorrections(key, symbol, bars, signal);
      return { corrections, days: markedDays(corrections, bars) };
    },
    [key, symbol.symbol, range],
  );
  const { corrections, days } = loaded.data ?? NONE;
  const marks = useMemo(
    (): CorrectionMark[] => days.map((date) => ({ date, text: days.length > LABELS_MAX ? '' : 'corrected' })),
    [days],
  );
  return { corrections, marks, loaded };
}

const NONE: { corrections: readonly Correction[]; days: readonly string[] } = { corrections: [], days: [] };

/** The corrections, once the user wants them: reading them costs a unit of the quota. */
export function Revisions({
  symbol,
  revisions,
  onWant,
}: {
  symbol: MarketSymbol;
  revisions: ReturnType<typeof useRevisions> | undefined;
  onWant: () => void;
}) {
  if (!revisions) {
    return (
      <section class="card" aria-labelledby="revisions-title">
        <div class="card-head">
          <h2 id="revisions-title">Corrections</h2>
          <button type="button" class="button small" onClick={onWant}>
            Show corrections
          </button>
        </div>
        <p class="hint">
          Prices of this range that were corrected after they were published. Costs one unit.
        </p>
      </section>
    );
  }
  const { corrections, loaded } = revisions;
  if (loaded.state === 'failed') return <Failure error={loaded.error} onRetry={loaded.reload} />;
  if (corrections.length === 0) {
    return (
      <p class="hint" role="status">
        {loaded.state === 'loading' ? 'Looking for corrections…' : 'No price in this range was corrected.'}
      </p>
    );
  }
  return <RevisionsTable symbol={symbol} corrections={corrections} />;
}
