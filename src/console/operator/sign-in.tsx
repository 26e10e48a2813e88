import { useState } from 'preact/hooks';
import { inHeader, type OpenpitError } from '../api/client.ts';
import { secret, setSecret } from '../api/session.ts';
import { Notice } from '../show/parts.tsx';

/** Asks for the admin token, and for a name for the audit log. Both stay in this tab. */
export function SignIn({ error }: { error?: OpenpitError | undefined }) {
  const [token, setToken] = useState('');
  const [name, setName] = useState(secret('operator'));
  return (
    <section class="card narrow">
      <h1>Operator</h1>
      {error ? (
        <Notice kind="error" title="This token does not work">
          {error.status === 429
            ? error.message
            : 'This is not the admin token of the service. Use the value of OPENPIT_ADMIN_TOKEN that the service was started with.'}
        </Notice>
      ) : (
        <p>Sign in with the admin token of this service.</p>
      )}
      <form
        class="secret-form"
        onSubmit={(event) => {
          event.preventDefault();
          setSecret('operator', name.trim());
          if (token.trim() !== '') setSecret('admin', inHeader(token.trim()));
        }}
      >
        <label for="secret-admin">Admin token</label>
        <input
          id="secret-admin"
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <label for="operator-name">Your name, for the audit log (optional)</label>
        <div class="field-row">
          <input
            id="operator-name"
            autocomplete="name"
            maxLength={64}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
          <button type="submit" class="button primary">
            Sign in
          </button>
        </div>
        <p class="hint">
          The token is kept in this tab only, sent in a header, and deleted when you close the tab.
        </p>
      </form>
    </section>
  );
}
