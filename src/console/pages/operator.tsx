import type { ConfigAnswer } from '../data/answers.ts';
import { ApiError, askAsOperator } from '../data/client.ts';
import { has } from '../data/features.ts';
import { useLoad } from '../data/load.ts';
import { setSecret, useSecret } from '../data/session.ts';
import { count, duration } from '../show/format.ts';
import { SecretForm } from '../show/key-form.tsx';
import { Accounts } from '../show/operator-accounts.tsx';
import { Feeds } from '../show/operator-feeds.tsx';
import { Plans } from '../show/operator-plans.tsx';
import { Failure, Loading, Notice } from '../show/parts.tsx';

interface ReplicasAnswer {
  answering: {
    version: string;
    phase: string;
    simulated: boolean;
    engine: string;
    revision: number;
    behind: number;
    newestDataAgeSeconds: number | null;
    historyBytes: number;
  };
  holders: { replica: string; accounts: number; units: number; silentSeconds: number }[];
}

export function OperatorPage({ config }: { config: ConfigAnswer }) {
  const token = useSecret('admin');
  if (!config.admin) {
    return (
      <section class="card narrow">
        <h1>Operator</h1>
        <p>The operator's side of this service is switched off.</p>
        <p class="hint">
          Start it with a token of your own, and sign in here with the same: feeds, accounts, plans, keys and
          replicas.
        </p>
        <pre>
          <code>OPENPIT_ADMIN_TOKEN=$(openssl rand -hex 24) npm start</code>
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
          {error.message}
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
  if (replicas.error instanceof ApiError && [401, 403, 429].includes(replicas.error.status)) {
    return <SignIn error={replicas.error} />;
  }
  return (
    <>
      <div class="page-head">
        <div>
          <h1>Operator</h1>
          <p class="lead">Accounts, plans, keys, and where the service stands.</p>
        </div>
        <button type="button" class="button" onClick={() => setSecret('admin', '')}>
          Sign out
        </button>
      </div>
      {replicas.state === 'failed' && <Failure error={replicas.error} onRetry={replicas.reload} />}
      {!replicas.data && replicas.state === 'loading' && <Loading label="Reading the service" lines={5} />}
      {replicas.data && <Replicas {...replicas.data} onReload={replicas.reload} />}
      {has('/admin/feeds') && <Feeds token={token} />}
      <Accounts token={token} />
      <Plans token={token} />
    </>
  );
}

function Replicas({ answering, holders, onReload }: ReplicasAnswer & { onReload: () => void }) {
  const age = answering.newestDataAgeSeconds;
  const facts: [string, string][] = [
    ['State', `${answering.phase}${answering.simulated ? ', simulated prices' : ''}`],
    ['Ledger', answering.engine === 'postgres' ? 'PostgreSQL' : 'SQLite'],
    ['Newest price', age === null ? 'none yet' : age < 3 ? 'now' : `${duration(age)} ago`],
    ['Behind the ledger', answering.behind === 0 ? 'not at all' : `${count(answering.behind)} revisions`],
    ['History in memory', `${(answering.historyBytes / 1_048_576).toFixed(1)} MB`],
    ['Version', answering.version],
  ];
  return (
    <>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <section class="card" aria-labelledby="replicas-title">
        <div class="card-head">
          <h2 id="replicas-title">Replicas that hold quota</h2>
          <button type="button" class="button small" onClick={onReload}>
            Refresh
          </button>
        </div>
        {holders.length === 0 ? (
          <p class="hint">None: no account has asked for anything in the last half minute.</p>
        ) : (
          <div class="scroll">
            <table class="plain">
              <thead>
                <tr>
                  <th scope="col">Replica</th>
                  <th scope="col" class="number">
                    Accounts
                  </th>
                  <th scope="col" class="number">
                    Units held
                  </th>
                  <th scope="col" class="number">
                    Last heard
                  </th>
                </tr>
              </thead>
              <tbody>
                {holders.map((one) => (
                  <tr key={one.replica}>
                    <th scope="row">
                      <code>{one.replica}</code>
                    </th>
                    <td class="number">{count(one.accounts)}</td>
                    <td class="number">{count(one.units)}</td>
                    <td class="number">
                      {one.silentSeconds < 3 ? 'now' : `${duration(one.silentSeconds)} ago`}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </section>
    </>
  );
}
