import type { MarketSymbol } from '../../api/answers.ts';
import type { Correction } from '../../data/revisions.ts';
import { count, day, moment, price } from '../../show/format.ts';
import { StackTable } from '../../show/stack-table.tsx';

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
      <StackTable
        rows={newest}
        keyOf={({ date, recordedAt }) => `${date} ${recordedAt}`}
        columns={[
          ['Day', ({ date }) => day(date)],
          ['Close before', ({ before }) => (before === null ? 'withdrawn' : price(before)), 'number'],
          ['Close after', ({ after }) => (after === null ? 'withdrawn' : price(after)), 'number'],
          ['Recorded', ({ recordedAt }) => moment(recordedAt)],
          ['Source', ({ source }) => source],
          ['Reason', ({ reason }) => reason ?? '—'],
        ]}
      />
      <p class="hint">
        {corrections.length > newest.length &&
          `And ${count(corrections.length - newest.length)} earlier ones. `}
        Prices per {symbol.unit.symbol}, as they were published. Nothing that was published is lost:{' '}
        <code>asOf</code> asks for what was known at a moment.
      </p>
    </section>
  );
}
