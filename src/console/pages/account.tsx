import { SecretForm } from '../account/key-form.tsx';
import { Keys } from '../account/keys.tsx';
import { type Holder, WithKey } from '../account/with-key.tsx';
import type { ConfigAnswer, IssuedAnswer, KeyRecord, UsageAnswer, UsageDailyAnswer } from '../api/answers.ts';
import { askWithKey } from '../api/client.ts';
import { useLoad } from '../api/load.ts';
import { setSecret } from '../api/session.ts';
import { UsageChart } from '../charts/usage-chart.tsx';
import { count, dayOfSeconds, duration } from '../show/format.ts';
import { Failure, Loading, Notice } from '../show/parts.tsx';
import { masked } from '../show/snippets.ts';

export function AccountPage({ config }: { config: ConfigAnswer }) {
  return <WithKey config={config}>{(holder) => <Account holder={holder} />}</WithKey>;
}

function Account({ holder }: { holder: Holder }) {
  const { apiKey, kind, account, plan, key } = holder;
  const loaded = useLoad(async () => {
    const usage = await askWithKey<UsageAnswer>(apiKey, '/usage');
    const daily = await askWithKey<UsageDailyAnswer>(apiKey, '/usage/daily');
    const keys = await askWithKey<{ keys: KeyRecord[] }>(apiKey, '/account/keys');
    return { usage, daily, keys: keys.keys };
  }, [apiKey]);
  return (
    <>
      <div class="page-head">
        <div>
          <h1>{account.name}</h1>
          <p class="lead">
            Account <code>{account.id}</code>, with the key <code>{masked(apiKey)}</code>{' '}
            {kind !== 'own' && <span class="badge">{kind === 'demo' ? 'demo key' : 'public key'}</span>}
          </p>
        </div>
        {kind === 'own' && (
          <button type="button" class="button" onClick={() => setSecret('key', '')}>
            Forget this key
          </button>
        )}
      </div>
      {loaded.state === 'failed' && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {!loaded.data && loaded.state === 'loading' && <Loading label="Reading the usage" lines={6} />}
      {loaded.data && (
        <>
          <div class="columns">
            <Quota usage={loaded.data.usage} events={loaded.data.daily.events} />
            <section class="card" aria-labelledby="plan-title">
              <h2 id="plan-title">Plan “{plan.name}”</h2>
              <table class="plain">
                <tbody>
                  <Line name="Answers a month" value={count(plan.quota)} />
                  <Line name="Delay of prices" value={duration(plan.delaySeconds)} />
                  <Line name="Symbols in one request" value={count(plan.maxSymbols)} />
                  <Line name="Days in one time series" value={count(plan.maxSpanDays)} />
                  <Line name="Long history" value={plan.history ? 'yes' : 'no'} />
                  <Line name="Requests a second" value={count(plan.burstPerSecond)} />
                </tbody>
              </table>
            </section>
          </div>
          <section class="card" aria-labelledby="usage-title">
            <h2 id="usage-title">Usage by day and endpoint</h2>
            <UsageChart
              days={loaded.data.daily.days}
              first={loaded.data.daily.startDate}
              last={loaded.data.daily.endDate}
            />
          </section>
          {kind === 'public' ? (
            <Notice title="This key is everybody's.">Its account is managed by the operator.</Notice>
          ) : (
            <Keys
              keys={loaded.data.keys}
              own={key.id}
              actions={keyActions(apiKey)}
              onChange={(issued, replaced) => {
                if (issued && replaced === key.id && kind === 'own') setSecret('key', issued.apiKey);
                else loaded.reload();
              }}
            />
          )}
        </>
      )}
      {kind !== 'own' && (
        <section class="card">
          <SecretForm name="key" label="Use a key of your own" button="Use this key" />
        </section>
      )}
    </>
  );
}

function Quota({ usage, events }: { usage: UsageAnswer; events: UsageDailyAnswer['events'] }) {
  const share = usage.quota === 0 ? 100 : Math.min(100, (usage.used / usage.quota) * 100);
  const level = share >= 100 ? 'full' : share >= 75 ? 'high' : '';
  return (
    <section class="card" aria-labelledby="quota-title">
      <h2 id="quota-title">This month</h2>
      <p class="stat">
        {count(usage.used)} <small>of {count(usage.quota)} used</small>
      </p>
      <progress
        class={`meter ${level}`}
        max={100}
        value={share}
        aria-label="Share of the quota that is used"
      />
      <p class="hint">
        {count(usage.remaining)} remaining. The count resets on {dayOfSeconds(usage.resetAt)}, 00:00 UTC.
      </p>
      {events.map(({ percent, at }) => (
        <p class="hint" key={`${percent} ${at}`}>
          {percent} % was reached on {dayOfSeconds(at)}.
        </p>
      ))}
    </section>
  );
}

function Line({ name, value }: { name: string; value: string }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="number">{value}</td>
    </tr>
  );
}

function keyActions(key: string) {
  const path = (id: string) => `/account/keys/${encodeURIComponent(id)}`;
  return {
    create: () => askWithKey<IssuedAnswer>(key, '/account/keys', { method: 'POST', body: {} }),
    rotate: (id: string) => askWithKey<IssuedAnswer>(key, `${path(id)}/rotate`, { method: 'POST', body: {} }),
    revoke: (id: string) => askWithKey(key, path(id), { method: 'DELETE' }),
  };
}
