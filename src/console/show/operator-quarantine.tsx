import { useState } from 'preact/hooks';
import { askAsOperator } from '../data/client.ts';
import { useLoad, useRefresh } from '../data/load.ts';
import type { HeldTick } from '../data/operator.ts';
import { linkTo } from '../data/route.ts';
import { count, moment, price } from './format.ts';
import { ActionsHead, Failure, Loading, SureButton } from './parts.tsx';

const REFRESH_MS = 10_000;
const SHOWN = 50;

/** Prices that were held back: take them after all, or give them up. */
export function Quarantine({ token }: { token: string }) {
  const [error, setError] = useState<unknown>();
  const loaded = useLoad(
    async () => (await askAsOperator<{ ticks: HeldTick[] }>(token, '/admin/quarantine')).ticks,
    [token],
  );
  useRefresh(loaded.reload, REFRESH_MS);
  const decide = async (id: number, what: 'release' | 'drop') => {
    setError(undefined);
    await askAsOperator(token, `/admin/quarantine/${id}/${what}`, { method: 'POST' }).catch(setError);
    loaded.reload();
  };
  const ticks = loaded.data ?? [];
  return (
    <section class="card" aria-labelledby="quarantine-title">
      <h2 id="quarantine-title">Quarantine</h2>
      {error !== undefined && <Failure error={error} />}
      {loaded.state === 'failed' && !loaded.data && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {!loaded.data && loaded.state === 'loading' && <Loading label="Reading the quarantine" lines={2} />}
      {loaded.data?.length === 0 && (
        <p class="hint">
          Empty. A price that is far from its neighbours waits here until others agree or you decide.
        </p>
      )}
      {ticks.length > 0 && (
        <table class="plain stack">
          <thead>
            <tr>
              <th scope="col">Symbol</th>
              <th scope="col" class="number">
                Price
              </th>
              <th scope="col">At</th>
              <th scope="col">Source</th>
              <th scope="col">Why it is held back</th>
              <ActionsHead />
            </tr>
          </thead>
          <tbody>
            {ticks.slice(0, SHOWN).map((tick) => (
              <tr key={tick.id}>
                <th scope="row">
                  <a href={linkTo('symbol', tick.symbol)}>{tick.symbol}</a>
                </th>
                <td data-label="Price" class="number">
                  {price(tick.price)}
                </td>
                <td data-label="At">{moment(tick.at)}</td>
                <td data-label="Source">{tick.source}</td>
                <td data-label="Why it is held back">{tick.reason}</td>
                <td class="actions">
                  <SureButton
                    label="Take it"
                    sure="Publish it"
                    describe={`${tick.symbol} ${tick.price}`}
                    onSure={() => decide(tick.id, 'release')}
                  />
                  <SureButton
                    label="Drop it"
                    sure="Drop it for good"
                    describe={`${tick.symbol} ${tick.price}`}
                    onSure={() => decide(tick.id, 'drop')}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {ticks.length > SHOWN && (
        <p class="hint">
          and {count(ticks.length - SHOWN)} older ones: <code>npx openpit feed quarantine list</code>
        </p>
      )}
    </section>
  );
}
