import { useState } from 'preact/hooks';
import { askAsOperator } from '../../api/client.ts';
import { commandLine } from '../../api/command-line.ts';
import { useLoad, useRefresh } from '../../api/load.ts';
import type { HeldBarRecord, HeldTickRecord } from '../../api/operator.ts';
import { linkTo } from '../../data/route.ts';
import { DoneNotice } from '../../editing/done-notice.tsx';
import { SureButton } from '../../editing/sure-button.tsx';
import { useAction } from '../../editing/use-action.ts';
import { ago, count, day, moment, price } from '../../show/format.ts';
import { Choice, Failure, Loading } from '../../show/parts.tsx';
import { StackTable } from '../../show/stack-table.tsx';

const REFRESH_MS = 10_000;
const SHOWN = 50;

interface HeldAnswer {
  ticks: HeldTickRecord[];
  bars: HeldBarRecord[];
  complete: boolean;
}

/** Ticks and bars in one list, the newest first. */
function heldPrices({ ticks, bars }: HeldAnswer) {
  const all = [
    ...ticks.map((tick) => ({ ...tick, when: moment(tick.at) })),
    ...bars.map((bar) => ({ ...bar, price: bar.close, when: day(bar.date) })),
  ];
  return all.sort((a, b) => b.id - a.id);
}

/** Held prices, to release or to drop. */
export function Quarantine({ token }: { token: string }) {
  const action = useAction();
  const [done, setDone] = useState<string>();
  const [which, setWhich] = useState<'Waiting' | 'All'>('Waiting');
  const loaded = useLoad(async () => {
    const path = `/admin/quarantine?all=${which === 'All'}`;
    const answer = await askAsOperator<HeldAnswer>(token, path);
    return { prices: heldPrices(answer), complete: answer.complete };
  }, [token, which]);
  useRefresh(loaded.refresh, REFRESH_MS);
  const decide = async (id: number, describe: string, what: 'release' | 'drop') => {
    setDone(undefined);
    const path = `/admin/quarantine/${id}/${what}`;
    if (await action.run(() => askAsOperator(token, path, { method: 'POST' })))
      setDone(`${describe} is ${what === 'release' ? 'published' : 'dropped'}.`);
    loaded.reload();
  };
  const { prices: held, complete } = loaded.data ?? { prices: [], complete: true };
  return (
    <section class="card" aria-labelledby="quarantine-title">
      <div class="card-head">
        <h2 id="quarantine-title">Quarantine</h2>
        <Choice
          label="Which prices"
          options={['Waiting', 'All'] as const}
          value={which}
          onChange={setWhich}
        />
      </div>
      {action.error !== undefined && <Failure error={action.error} />}
      {done && <DoneNotice text={done} />}
      {loaded.state === 'failed' && !loaded.data && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {!loaded.data && loaded.state === 'loading' && <Loading label="Reading the quarantine" shape="table" />}
      {loaded.data?.prices.length === 0 && (
        <p class="hint">
          Empty. A price that is far from its neighbours waits here: a tick until others agree or you decide,
          a day's bar until you decide.
        </p>
      )}
      {held.length > 0 && (
        <StackTable
          rows={held.slice(0, SHOWN)}
          keyOf={(one) => one.id}
          columns={[
            ['Symbol', (one) => <a href={linkTo('symbol', one.symbol)}>{one.symbol}</a>],
            ['Price', (one) => price(one.price), 'number'],
            ['At', (one) => one.when],
            ['Source', (one) => one.source],
            ['Why it is held back', (one) => one.reason],
          ]}
          actions={(one) =>
            one.state === 'held' ? (
              <Decision
                price={one}
                onDecide={(what) => decide(one.id, `${one.symbol} ${price(one.price)}`, what)}
              />
            ) : (
              <span class="muted">
                {one.state}
                {one.decidedAt && ` ${ago(one.decidedAt)}`}
                {one.decidedBy && ` by ${one.decidedBy}`}
              </span>
            )
          }
        />
      )}
      {held.length > SHOWN && (
        <p class="hint">
          and {complete ? '' : 'more than '}
          {count(held.length - SHOWN)} older ones: <code>{commandLine('quarantine list')}</code>
        </p>
      )}
    </section>
  );
}

function Decision({
  price: { symbol, price: value },
  onDecide,
}: {
  price: { symbol: string; price: number };
  onDecide: (what: 'release' | 'drop') => void;
}) {
  const describe = `${symbol} ${value}`;
  return (
    <>
      <SureButton label="Take it" sure="Publish it" describe={describe} onSure={() => onDecide('release')} />
      <SureButton
        label="Drop it"
        sure="Drop it for good"
        describe={describe}
        onSure={() => onDecide('drop')}
      />
    </>
  );
}
