import type { ComponentChildren } from 'preact';
import type { AccountAnswer, ConfigAnswer } from '../api/answers.ts';
import { ApiError, askWithKey } from '../api/client.ts';
import { useLoad } from '../api/load.ts';
import { setSecret, useKey } from '../api/session.ts';
import { Failure, Loading, Notice } from '../show/parts.tsx';
import { SecretForm } from './key-form.tsx';

export interface Holder extends AccountAnswer {
  apiKey: string;
  kind: 'own' | 'demo' | 'public';
}

const RETRY_MS = 2_000;

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
    return untilReady(() => askWithKey<AccountAnswer>(key, '/account'));
  }, [key]);
  if (kind === 'none') return <AskForKey />;
  if (account.error instanceof ApiError && account.error.isAboutKey) {
    return <AskForKey error={account.error} />;
  }
  if (account.state === 'failed') return <Failure error={account.error} onRetry={account.reload} />;
  if (!account.data || account.data.plan === undefined)
    return <Loading label="Reading the account" lines={6} />;
  return <>{children({ ...account.data, apiKey: key, kind })}</>;
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

/** Retries while the service is starting. */
async function untilReady<T>(load: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await load();
    } catch (error) {
      const starting = error instanceof ApiError && error.status === 503 && /starting/.test(error.message);
      if (!starting) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}
