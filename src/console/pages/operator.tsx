import { SecretForm } from '../account/key-form.tsx';
import type { ConfigAnswer } from '../api/answers.ts';
import { ApiError, askAsOperator } from '../api/client.ts';
import { useLoad, useRefresh } from '../api/load.ts';
import type { ReplicasAnswer } from '../api/operator.ts';
import { setSecret, useSecret } from '../api/session.ts';
import { Accounts } from '../operator/accounts.tsx';
import { Alarms } from '../operator/alarms.tsx';
import { Feeds } from '../operator/feeds.tsx';
import { Plans } from '../operator/plans.tsx';
import { Quarantine } from '../operator/quarantine.tsx';
import { Replicas } from '../operator/replicas.tsx';
import { Failure, Loading, Notice } from '../show/parts.tsx';

/** As often as replicas send heartbeats. */
const REFRESH_MS = 5_000;

const SWITCH_ON = `export OPENPIT_ADMIN_TOKEN=$(openssl rand -hex 24)
echo $OPENPIT_ADMIN_TOKEN
npm start`;

export function OperatorPage({ config }: { config: ConfigAnswer }) {
  const token = useSecret('admin');
  if (!config.admin) {
    return (
      <section class="card narrow">
        <h1>Operator</h1>
        <p>The operator's side of this service is switched off.</p>
        <p class="hint">
          Start it with a token of your own, and sign in here with the same: feeds, accounts, plans, keys and
          replicas. These lines make a token, show it and start:
        </p>
        <pre>
          <code>{SWITCH_ON}</code>
        </pre>
      </section>
    );
  }
  if (token === '') return <SignIn />;
  return <Signed token={token} />;
}

function SignIn({ error }: { error?: ApiError }) {
  return (
    <section class="card narrow">
      <h1>Operator</h1>
      {error ? (
        <Notice kind="error" title="This token does not work">
          {error.status === 429
            ? error.message
            : 'It is not the admin token of this service. The right one is the value of OPENPIT_ADMIN_TOKEN where the service was started.'}
        </Notice>
      ) : (
        <p>Sign in with the admin token of this service.</p>
      )}
      <SecretForm name="admin" label="Admin token" button="Sign in" />
    </section>
  );
}

function Signed({ token }: { token: string }) {
  const replicas = useLoad(() => askAsOperator<ReplicasAnswer>(token, '/admin/replicas'), [token]);
  useRefresh(replicas.reload, REFRESH_MS);
  if (replicas.error instanceof ApiError && [401, 403, 429].includes(replicas.error.status)) {
    return <SignIn error={replicas.error} />;
  }
  return (
    <>
      <div class="page-head">
        <div>
          <h1>Operator</h1>
          <p class="lead">Where the service stands, its feeds, accounts, plans and keys.</p>
        </div>
        <button type="button" class="button" onClick={() => setSecret('admin', '')}>
          Sign out
        </button>
      </div>
      <Alarms token={token} everyMs={REFRESH_MS} />
      {replicas.state === 'failed' && <Failure error={replicas.error} onRetry={replicas.reload} />}
      {!replicas.data && replicas.state === 'loading' && <Loading label="Reading the service" lines={5} />}
      {replicas.data && <Replicas {...replicas.data} />}
      <Feeds token={token} />
      <Quarantine token={token} />
      <Accounts token={token} />
      <Plans token={token} />
    </>
  );
}
