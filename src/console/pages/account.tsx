import { useEffect } from 'preact/hooks';
import { KeyForm } from '../account/key-form.tsx';
import { Keys } from '../account/keys.tsx';
import { Limits } from '../account/limits.tsx';
import { Quota } from '../account/quota.tsx';
import { UsageCard } from '../account/usage-card.tsx';
import { type Holder, replaceKey, WithKey } from '../account/with-key.tsx';
import type { ConfigAnswer, IssuedAnswer, KeyRecord, UsageAnswer, UsageDailyAnswer } from '../api/answers.ts';
import { askWithKey, isAboutKey } from '../api/client.ts';
import { useLoad } from '../api/load.ts';
import { isKeyRemembered, rememberKey, setSecret } from '../api/session.ts';
import { masked } from '../show/format.ts';
import { Failure, Loading, Notice, ShownError } from '../show/parts.tsx';

/** How long after an incomplete count to read it again. */
const READ_AGAIN_MS = 3_000;

export function AccountPage({ config }: { config: ConfigAnswer }) {
  return (
    <WithKey config={config} shape="cards">
      {(holder) => <Account holder={holder} />}
    </WithKey>
  );
}

function Account({ holder }: { holder: Holder }) {
  const { apiKey, kind, account, plan, key } = holder;
  const loaded = useLoad(async () => {
    const usage = await askWithKey<UsageAnswer>(apiKey, '/usage');
    const daily = await askWithKey<UsageDailyAnswer>(apiKey, '/usage/daily');
    const keys = await askWithKey<{ keys: KeyRecord[] }>(apiKey, '/account/keys');
    return { usage, daily, keys: keys.keys };
  }, [account.id]);
  const { refresh } = loaded;
  const own = loaded.data?.keys.find(({ id }) => id === key.id);
  const isOver = isAboutKey(loaded.error) || (own !== undefined && own.status !== 'active');
  const isStale = loaded.data?.daily.exact === false;
  useEffect(() => {
    if (!isStale) return;
    const timer = setInterval(refresh, READ_AGAIN_MS);
    return () => clearInterval(timer);
  }, [isStale, refresh]);
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
          <div class="field-row">
            <label class="check">
              <input
                type="checkbox"
                checked={isKeyRemembered()}
                onChange={(event) => rememberKey(event.currentTarget.checked)}
              />
              Remember it in this browser
            </label>
            <button type="button" class="button" onClick={() => setSecret('key', '')}>
              Forget this key
            </button>
          </div>
        )}
      </div>
      {loaded.state === 'failed' && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {isOver && (
        <section class="card">
          {own && own.status !== 'active' && <p class="hint">The key of this page is {own.status}.</p>}
          <KeyForm label="Use another key" />
        </section>
      )}
      {!loaded.data && loaded.state === 'loading' && (
        <Loading label="Reading the usage" shape="cards" lines={4} />
      )}
      {loaded.data && (
        <ShownError.Provider value={loaded.error}>
          <div class="columns">
            <Quota usage={loaded.data.usage} daily={loaded.data.daily} now={Date.now() / 1000} />
            <Limits plan={plan} />
          </div>
          {isStale && (
            <Notice title="The newest requests are not counted yet.">
              A part of the service did not report its counts in time. They are read again until they are
              complete.
            </Notice>
          )}
          <UsageCard daily={loaded.data.daily} keys={loaded.data.keys} />
          {kind === 'public' ? (
            <Notice title="This key is shared by all visitors.">
              Its account is managed by the operator.
            </Notice>
          ) : (
            <Keys
              keys={loaded.data.keys}
              own={key.id}
              actions={keyActions(apiKey)}
              onChange={(issued, replaced) => {
                if (issued && replaced === key.id && kind === 'own')
                  replaceKey(issued.apiKey, { ...holder, key: issued.key });
                loaded.reload();
              }}
            />
          )}
        </ShownError.Provider>
      )}
      {kind !== 'own' && !isOver && (
        <section class="card">
          <KeyForm label="Use a key of your own" />
        </section>
      )}
    </>
  );
}

function keyActions(key: string) {
  const path = (id: string) => `/account/keys/${encodeURIComponent(id)}`;
  return {
    create: (body: object) => askWithKey<IssuedAnswer>(key, '/account/keys', { method: 'POST', body }),
    update: (id: string, body: object) => askWithKey(key, path(id), { method: 'PATCH', body }),
    rotate: (id: string, overlapSeconds: number) =>
      askWithKey<IssuedAnswer>(key, `${path(id)}/rotate`, { method: 'POST', body: { overlapSeconds } }),
    revoke: (id: string) => askWithKey(key, path(id), { method: 'DELETE' }),
  };
}
