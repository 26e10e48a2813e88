import { useLayoutEffect, useState } from 'preact/hooks';
import type { ConfigAnswer } from '../api/answers.ts';
import { askAsOperator, isOutage, OpenpitError } from '../api/client.ts';
import { useLoad, useRefresh } from '../api/load.ts';
import type { ReplicasAnswer } from '../api/operator.ts';
import { setSecret, useSecret } from '../api/session.ts';
import { Alarms } from '../operator/alarms.tsx';
import { Replicas, ServiceFacts } from '../operator/replicas.tsx';
import { Section, SectionLinks } from '../operator/sections.tsx';
import { SignIn } from '../operator/sign-in.tsx';
import { Failure, Loading, ShownError } from '../show/parts.tsx';

/** As often as replicas send heartbeats. */
const REFRESH_MS = 5_000;

const SWITCH_ON = `export OPENPIT_ADMIN_TOKEN=$(openssl rand -hex 24)
echo $OPENPIT_ADMIN_TOKEN
npm start`;

export function OperatorPage({ section, config }: { section: string; config: ConfigAnswer }) {
  const token = useSecret('admin');
  const [refused, setRefused] = useState<OpenpitError>();
  if (!config.admin) {
    return (
      <section class="card narrow">
        <h1>Operator</h1>
        <p>The operator's page of this service is disabled.</p>
        <p class="hint">
          Start the service with a token of your own and sign in with it here to manage feeds, accounts,
          plans, keys and replicas. These commands create a token, print it and start the service:
        </p>
        <pre>
          <code>{SWITCH_ON}</code>
        </pre>
      </section>
    );
  }
  if (token === '') return <SignIn error={refused} />;
  return (
    <Signed key={token} token={token} section={section} isDemo={config.simulated} onRefused={setRefused} />
  );
}

function Signed({
  token,
  section,
  isDemo,
  onRefused,
}: {
  token: string;
  section: string;
  isDemo: boolean;
  onRefused: (error: OpenpitError | undefined) => void;
}) {
  const replicas = useLoad(() => askAsOperator<ReplicasAnswer>(token, '/admin/replicas'), [token]);
  useRefresh(replicas.refresh, REFRESH_MS);
  const { error } = replicas;
  const isDown = isOutage(error);
  const isRefused = error instanceof OpenpitError && [401, 403].includes(error.status);
  useLayoutEffect(() => {
    onRefused(isRefused ? error : undefined);
    if (isRefused) setSecret('admin', ''); // sent again, it would count as another failed attempt
  }, [isRefused]);
  if (isRefused) return null; // the page asks for another token: a form here would soon be replaced, with what was typed in it
  if (error instanceof OpenpitError && error.status === 429) return <SignIn error={error} />;
  return (
    <>
      <div class="page-head">
        <div>
          <h1>Operator</h1>
          <p class="lead">What the service is doing now, and what you can change while it runs.</p>
        </div>
        <button type="button" class="button" onClick={() => setSecret('admin', '')}>
          Sign out
        </button>
      </div>
      <Alarms token={token} everyMs={REFRESH_MS} />
      <SectionLinks current={section} />
      {(section === '' || isDown) && error !== undefined && (
        <Failure error={error} onRetry={replicas.reload} />
      )}
      {section === '' && (
        <>
          {!replicas.data && replicas.state === 'loading' && (
            <Loading label="Reading the service" shape="cards" lines={4} />
          )}
          {replicas.data && (
            <ServiceFacts answering={replicas.data.answering} replicas={replicas.data.replicas} />
          )}
        </>
      )}
      <ShownError.Provider value={error}>
        <Section name={section} token={token} isDemo={isDemo} />
      </ShownError.Provider>
      {section === '' && replicas.data && <Replicas {...replicas.data} />}
    </>
  );
}
