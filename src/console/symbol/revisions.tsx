import { useMemo } from 'preact/hooks';
import type { ChartBar, MarketSymbol } from '../api/answers.ts';
import { useLoad } from '../api/load.ts';
import type { Mark } from '../charts/candles.tsx';
import { type Correction, loadCorrections, markedDays } from '../data/revisions.ts';
import { count, day, moment, price } from '../show/format.ts';

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
  return { found, marks };
}

const NONE: readonly Correction[] = [];

export function Revisions({ symbol, found }: { symbol: MarketSymbol; found: readonly Correction[] }) {
  if (found.length === 0) return null;
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
