import type { OpenpitError } from '../api/client.ts';
import type { ChangeView, ChartView } from '../data/chart/view.ts';
import { plural } from '../show/format.ts';
import { Failure, Notice } from '../show/parts.tsx';

/** Asks before a range that takes many requests. */
export function AskFirst({ requests, onLoad }: { requests: number; onLoad: () => void }) {
  return (
    <Notice
      title={`This range takes ${plural(requests, 'request')}.`}
      action={
        <button type="button" class="button primary" onClick={onLoad}>
          Load it
        </button>
      }
    >
      Each one costs a unit of this key's quota.
    </Notice>
  );
}

const WITHOUT_MINUTES = {
  plan: (plan: string) =>
    `The plan “${plan}” does not include long history, which is needed for minutes and hours. Ask the operator of this service.`,
  symbol: () => 'This symbol is published weekly or monthly.',
  range: () =>
    'They come from live prices. This symbol has only daily prices, or its minutes are no longer stored.',
};

/** Why a short range has no bars, and a way back. */
export function NoMinutes({
  because,
  plan,
  onLeave,
}: {
  because: keyof typeof WITHOUT_MINUTES;
  plan: string;
  onLeave: () => void;
}) {
  return (
    <Notice
      title="There are no minutes and hours to show."
      action={
        <button type="button" class="button" onClick={onLeave}>
          Show months
        </button>
      }
    >
      {WITHOUT_MINUTES[because](plan)}
    </Notice>
  );
}

interface Remedy {
  label: string;
  change: Partial<ChartView>;
}

const OWN_MEASURE: Remedy = {
  label: 'Show the prices as they are published',
  change: { currency: undefined, unit: undefined },
};

const USUAL_RANGE: Remedy = { label: 'Show months', change: { dates: undefined, range: undefined } };

/** What a link may ask for and the service refuses, by the code of the error. */
const REMEDIES: Readonly<Record<string, Remedy>> = {
  unknown_currency: OWN_MEASURE,
  invalid_unit: OWN_MEASURE,
  invalid_date: USUAL_RANGE,
  date_in_future: USUAL_RANGE,
};

/** Why the chart of a link is refused, and one that is not. The same request would be refused again. */
export function Refused({ error, onChange }: { error: OpenpitError; onChange: ChangeView }) {
  const remedy = REMEDIES[error.code ?? ''];
  return <Failure error={error} onRetry={remedy && (() => onChange(remedy.change))} retry={remedy?.label} />;
}
