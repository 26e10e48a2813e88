import { lazy } from '../../show/lazy.tsx';
import { Loading } from '../../show/parts.tsx';
import type { CorrectionsProps } from './corrections.tsx';

const Corrections = lazy(
  async () => (await import('./corrections.tsx')).Corrections,
  () => <Loading label="Loading corrections" />,
);

/** The corrections, once the user wants them: reading them costs a unit of the quota. */
export function Revisions({
  isWanted,
  onWant,
  ...props
}: CorrectionsProps & { isWanted: boolean; onWant: () => void }) {
  if (isWanted) return <Corrections {...props} />;
  return (
    <section class="card" aria-labelledby="revisions-title">
      <div class="card-head">
        <h2 id="revisions-title">Corrections</h2>
        <button type="button" class="button small" onClick={onWant}>
          Show corrections
        </button>
      </div>
      <p class="hint">Prices of this range that were corrected after they were published. Costs one unit.</p>
    </section>
  );
}
