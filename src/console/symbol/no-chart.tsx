import { plural } from '../show/format.ts';
import { Notice } from '../show/parts.tsx';

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
      Each is one unit of the quota of this key.
    </Notice>
  );
}

const WITHOUT_MINUTES = {
  plan: (plan: string) =>
    `The plan “${plan}” has no long history, which minutes and hours are part of. Ask the operator of this service for it.`,
  symbol: () => 'This symbol is published weekly or monthly.',
  range: () =>
    'They are made from live prices. This symbol has daily prices only, or its last minutes are no longer kept.',
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
