import { useEffect } from 'preact/hooks';
import type { ChartBar, MarketSymbol } from '../../api/answers.ts';
import { useLoad } from '../../api/load.ts';
import type { CorrectionMark } from '../../charts/drawing.ts';
import { loadCorrections, markedDays } from '../../data/revisions.ts';
import { Failure } from '../../show/parts.tsx';
import { RevisionsTable } from './revisions-table.tsx';

/** More labels would cover the chart. */
const LABELS_MAX = 12;

export interface CorrectionsProps {
  apiKey: string;
  symbol: MarketSymbol;
  /** Those that the chart shows. */
  bars: readonly ChartBar[];
  /** When the bars were asked for. */
  askedAt: number;
  /** Called with the days to mark in the chart. */
  onMarks: (marks: readonly CorrectionMark[]) => void;
}

/** The corrections of the days shown. */
export function Corrections({ apiKey, symbol, bars, askedAt, onMarks }: CorrectionsProps) {
  const range = `${bars[0]?.date} ${bars.at(-1)?.date}`;
  const loaded = useLoad(
    (signal) => loadCorrections(apiKey, symbol, bars, signal),
    [apiKey, symbol.symbol, range, askedAt],
  );
  const corrections = loaded.data ?? [];
  useEffect(() => {
    const days = markedDays(corrections, bars);
    onMarks(days.map((date) => ({ date, text: days.length > LABELS_MAX ? '' : 'corrected' })));
    return () => onMarks([]);
  }, [loaded.data]);
  if (loaded.state === 'failed') return <Failure error={loaded.error} onRetry={loaded.reload} />;
  if (corrections.length > 0) return <RevisionsTable symbol={symbol} corrections={corrections} />;
  return (
    <p class="hint" role="status">
      {loaded.state === 'loading' ? 'Looking for corrections…' : 'No price in this range was corrected.'}
    </p>
  );
}
