import type { ComponentChildren } from 'preact';
import type { AccountAnswer, ConfigAnswer } from '../api/answers.ts';
import { ApiError, askWithKey } from '../api/client.ts';
import { useLoad } from '../api/load.ts';
import { learnBurstLimit } from '../api/pace.ts';
import { setSecret, useKey } from '../api/session.ts';
import { Failure, Loading, Notice } from '../show/parts.tsx';
import { SecretForm } from './key-form.tsx';

export interface Holder extends AccountAnswer {
  apiKey: string;
  kind: 'own' | 'demo' | 'public';
}

/** The account as last read: a page shows at once what another one has read. */
let known: { key: string; answer: AccountAnswer } | undefined;

/** Shows content that needs a key, or asks for a key. */
export function WithKey({
  config,
  children,
}: {
  config: ConfigAnswer;
  children: (holder: Holder) => ComponentChildren;
}) {
  const { key, kind } = useKey(config);
  const account = useLoad(async () => {
    if (key === '') return undefined;
    const answer = await askWithKey<AccountAnswer>(key, '/account');
    learnBurstLimit(answer.plan.burstPerSecond);
    known = { key, answer };
    return answer;
  }, [key]);
  const answer = account.data ?? (known?.key === key ? known.answer : undefined);
  if (kind === 'none') return <AskForKey />;
  if (account.error instanceof ApiError && account.error.isAboutKey) {
    return <AskForKey error={account.error} />;
  }
  if (answer) return <>{children({ ...answer, apiKey: key, kind })}</>;
  if (account.state === 'failed') return <Failure error={account.error} onRetry={account.reload} />;
  return <Loading label="Reading the account" lines={6} />;
}

function AskForKey({ error }: { error?: ApiError }) {
  return (
    <section class="card narrow">
      <h1>Your API key</h1>
      {error ? (
        <Notice
          kind="error"
          title={error.status === 401 ? 'This key does not work' : 'This key may not be used'}
          action={
            <button type="button" class="button" onClick={() => setSecret('key', '')}>
              Forget it
            </button>
          }
        >
          {error.message}
        </Notice>
      ) : (
        <p>Prices on this service need a key. Paste yours to see the market and your usage.</p>
      )}
      <SecretForm name="key" label="API key" button="Use this key">
        <details>
          <summary>How do I get a key?</summary>
          <p>Ask the operator of this service. An operator makes one with</p>
          <pre>
            <code>npx openpit account create --name "My company" --plan basic</code>
          </pre>
        </details>
      </SecretForm>
    </section>
  );
}
