import { useMemo } from 'preact/hooks';
import type { ChartBar, MarketSymbol } from '../api/answers.ts';
import { useLoad } from '../api/load.ts';
import type { Mark } from '../charts/drawing.ts';
import { type Correction, loadCorrections, markedDays } from '../data/revisions.ts';
import { count, day, moment, price } from '../show/format.ts';
import { Failure } from '../show/parts.tsx';

/** More labels would cover the chart. */
const WORDS_MAX = 12;
const ROWS_SHOWN = 20;

/** Corrections of the days shown, and where to mark them. */
export function useRevisions(key: string, symbol: MarketSymbol, bars: readonly ChartBar[] | undefined) {
  const range = `${bars?.[0]?.date} ${bars?.at(-1)?.date}`;
  const loaded = useLoad(
    (signal) => loadCorrections(key, symbol, bars ?? [], signal),
    [key, symbol.symbol, range],
  );
  const found = loaded.data ?? NONE;
  const marks = useMemo((): Mark[] => {
    const days = markedDays(found, bars ?? []);
    return days.map((date) => ({ date, text: days.length > WORDS_MAX ? '' : 'corrected' }));
  }, [found, bars]);
  return { found, marks, loaded };
}

const NONE: readonly Correction[] = [];

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
  const { found, loaded } = revisions;
  if (loaded.state === 'failed') return <Failure error={loaded.error} onRetry={loaded.reload} />;
  if (found.length === 0) {
    return (
      <p class="hint" role="status">
        {loaded.state === 'loading' ? 'Looking for corrections…' : 'No price in this range was corrected.'}
      </p>
    );
  }
  const newest = found.slice(-ROWS_SHOWN).reverse();
  return (
    <section class="card" aria-labelledby="revisions-title">
      <h2 id="revisions-title">Corrections in this range</h2>
      <table class="plain stack">
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col" class="number">
              Close before
            </th>
            <th scope="col" class="number">
              Close after
            </th>
            <th scope="col">Recorded</th>
            <th scope="col">Source</th>
            <th scope="col">Reason</th>
          </tr>
        </thead>
        <tbody>
          {newest.map(({ date, before, after, recordedAt, source, reason }) => (
            <tr key={`${date} ${recordedAt}`}>
              <th scope="row">{day(date)}</th>
              <td data-label="Close before" class="number">
                {before === null ? 'withdrawn' : price(before)}
              </td>
              <td data-label="Close after" class="number">
                {after === null ? 'withdrawn' : price(after)}
              </td>
              <td data-label="Recorded">{moment(recordedAt)}</td>
              <td data-label="Source">{source}</td>
              <td data-label="Reason">{reason ?? '—'}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="hint">
        {found.length > newest.length && `And ${count(found.length - newest.length)} earlier ones. `}
        Prices per {symbol.unit.symbol}, as they were published. Nothing that was published is lost:{' '}
        <code>asOf</code> asks for what was known at a moment.
      </p>
    </section>
  );
}
