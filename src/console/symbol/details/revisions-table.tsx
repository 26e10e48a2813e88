import type { MarketSymbol } from '../../api/answers.ts';
import type { Correction } from '../../data/revisions.ts';
import { count, day, moment, price } from '../../show/format.ts';

const ROWS_SHOWN = 20;

/** The newest corrections of a range. */
export function RevisionsTable({
  symbol,
  corrections,
}: {
  symbol: MarketSymbol;
  corrections: readonly Correction[];
}) {
  const newest = corrections.slice(-ROWS_SHOWN).reverse();
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
        {corrections.length > newest.length &&
          `And ${count(corrections.length - newest.length)} earlier ones. `}
        Prices per {symbol.unit.symbol}, as they were published. Nothing that was published is lost:{' '}
        <code>asOf</code> asks for what was known at a moment.
      </p>
    </section>
  );
}
