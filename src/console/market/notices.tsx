import { commandLine } from '../api/command-line.ts';
import type { LiveState } from '../data/market/store.ts';
import { linkTo } from '../data/route.ts';
import { duration } from '../show/format.ts';
import { Notice } from '../show/parts.tsx';

/** How to replace simulated prices. */
export function SimulatedNotice({ isOperator }: { isOperator: boolean }) {
  return (
    <Notice kind="warning" title="Prices marked “simulated” are not real.">
      <p>
        Get real ones with <code>{commandLine('feed enable --all')}</code> or, without a network,{' '}
        <code>{commandLine('sample load')}</code>
        {isOperator && (
          <>
            {' '}
            (both are also on the <a href={linkTo('operator', 'feeds')}>operator’s page</a>)
          </>
        )}
        .
      </p>
    </Notice>
  );
}

export function EmptyNotice() {
  return (
    <Notice title="There are no prices yet.">
      <p>
        The symbols below are the catalogue. Prices appear here when you load them from public sources, from
        the program itself (without a network), or from a file:
      </p>
      <pre>
        <code>{commandLine('feed enable --all')}</code>
        {'\n'}
        <code>{commandLine('sample load')}</code>
        {'\n'}
        <code>{commandLine('import wti-daily.csv --symbol WTIOIL-SPOT --source eia')}</code>
      </pre>
    </Notice>
  );
}

/** Whether the prices are renewed. */
export function LiveBadge({
  state,
  delaySeconds,
  isClosed,
}: {
  state: LiveState;
  delaySeconds: number;
  isClosed: boolean;
}) {
  const delay = delaySeconds > 0 ? `, ${duration(delaySeconds)} behind` : '';
  if (typeof state === 'object') return <span class="live ended">not up to date</span>;
  if (state === 'lost') return <span class="live lost">connection lost, trying again…</span>;
  if (state === 'connecting') return <span class="live">connecting…</span>;
  if (isClosed) return <span class="live">markets closed</span>;
  return <span class="live on">live{delay}</span>;
}
