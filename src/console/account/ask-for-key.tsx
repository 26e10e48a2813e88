import type { OpenpitError } from '../api/client.ts';
import { commandLine } from '../api/command-line.ts';
import { setSecret } from '../api/session.ts';
import { Notice } from '../show/parts.tsx';
import { KeyForm } from './key-form.tsx';

/** Asks for an API key, after one that does not work too. */
export function AskForKey({ error }: { error?: OpenpitError }) {
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
      <KeyForm label="API key">
        <details>
          <summary>How do I get a key?</summary>
          <p>Ask the operator of this service. The operator creates one with</p>
          <pre>
            <code>{commandLine('account create --name "My company" --plan basic')}</code>
          </pre>
        </details>
      </KeyForm>
    </section>
  );
}
