import { useState } from 'preact/hooks';
import type { AccountAnswer, IssuedAnswer, KeyRecord } from '../api/answers.ts';
import { askWithKey } from '../api/client.ts';
import { ago, dayOfSeconds } from '../show/format.ts';
import { ActionsHead, CopyButton, Failure, Notice, SureButton } from '../show/parts.tsx';
import { givenRules, type KeyRulesBody, KeyRulesForm } from './key-rules.tsx';

const DAY_SECONDS = 86_400;

/** How long a key may still work after its rotation. */
const OVERLAPS: readonly [seconds: number, label: string][] = [
  [300, '5 minutes'],
  [3_600, 'an hour'],
  [DAY_SECONDS, 'a day'],
  [7 * DAY_SECONDS, 'a week'],
];

export interface KeyActions {
  create(rules: Partial<KeyRulesBody>): Promise<IssuedAnswer>;
  update(id: string, rules: KeyRulesBody): Promise<unknown>;
  rotate(id: string, overlapSeconds: number): Promise<IssuedAnswer>;
  revoke(id: string): Promise<unknown>;
}

/** The keys of an account, with create, change, rotate and revoke. A new key's text is shown once. */
export function Keys({
  keys,
  own,
  title = 'Keys',
  actions,
  onChange,
}: {
  keys: readonly KeyRecord[];
  /** The key that this page uses, if it is one of them. */
  own?: string;
  title?: string;
  actions: KeyActions;
  onChange: (issued?: IssuedAnswer, replaced?: string) => void;
}) {
  const [issued, setIssued] = useState<IssuedAnswer>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const [found, setFound] = useState<string>();
  const [edited, setEdited] = useState<KeyRecord | 'new'>();
  const [overlapSeconds, setOverlapSeconds] = useState(DAY_SECONDS);
  const run = async (action: () => Promise<IssuedAnswer | unknown>, replaced?: string) => {
    setBusy(true);
    setError(undefined);
    try {
      const answer = await action();
      const made = isIssued(answer) ? answer : undefined;
      if (made) setIssued(made);
      onChange(made, replaced);
    } catch (failed) {
      setError(failed);
    }
    setBusy(false);
  };
  return (
    <section class="card" aria-labelledby="keys-title">
      <div class="card-head">
        <h2 id="keys-title">{title}</h2>
        <button type="button" class="button small" disabled={busy} onClick={() => setEdited('new')}>
          Create a key
        </button>
      </div>
      {error !== undefined && <Failure error={error} />}
      {issued && <NewKey issued={issued} onDone={() => setIssued(undefined)} />}
      {edited && (
        <KeyRulesForm
          key={edited === 'new' ? '' : edited.id}
          {...(edited !== 'new' && { record: edited })}
          button={edited === 'new' ? 'Create' : 'Save'}
          onCancel={() => setEdited(undefined)}
          onSave={(rules) => {
            setEdited(undefined);
            void run(() =>
              edited === 'new' ? actions.create(givenRules(rules)) : actions.update(edited.id, rules),
            );
          }}
        />
      )}
      <table class="plain stack">
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">State</th>
            <th scope="col">Created</th>
            <th scope="col">Last use</th>
            <th scope="col">Expires</th>
            <th scope="col">Rules</th>
            <ActionsHead />
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id} class={key.id === issued?.key.id || key.id === found ? 'marked' : undefined}>
              <th scope="row">
                {key.name !== '' && <span class="key-name">{key.name}</span>} <code>{key.id}</code>{' '}
                {key.id === own && <span class="badge">this one</span>}{' '}
                {key.id === issued?.key.id && <span class="badge good">new</span>}{' '}
                {key.id === found && <span class="badge good">the key you pasted</span>}
              </th>
              <td data-label="State">
                <span class={`badge ${key.status === 'active' ? 'good' : 'bad'}`}>{key.status}</span>
              </td>
              <td data-label="Created">{dayOfSeconds(key.createdAt)}</td>
              <td data-label="Last use">{lastUse(key)}</td>
              <td data-label="Expires">{key.expiresAt === null ? 'never' : dayOfSeconds(key.expiresAt)}</td>
              <td data-label="Rules">{rulesOf(key)}</td>
              <td class="actions">
                {key.status === 'active' && (
                  <>
                    <button
                      type="button"
                      class="button small"
                      aria-label={`Change ${key.id}`}
                      disabled={busy}
                      onClick={() => setEdited(key)}
                    >
                      Change
                    </button>
                    <SureButton
                      label="Rotate"
                      sure="Rotate now"
                      describe={key.id}
                      disabled={busy}
                      onSure={() => run(() => actions.rotate(key.id, overlapSeconds), key.id)}
                    />
                    <SureButton
                      label="Revoke"
                      sure="Revoke for good"
                      describe={key.id}
                      disabled={busy}
                      onSure={() => run(() => actions.revoke(key.id))}
                    />
                  </>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <WhichKey keys={keys} onFound={setFound} />
      <p class="hint">
        Rotating creates a key with the same rules; the old one works for{' '}
        <select
          class="inline"
          aria-label="How long a rotated key still works"
          value={overlapSeconds}
          onChange={(event) => setOverlapSeconds(Number(event.currentTarget.value))}
        >
          {OVERLAPS.map(([seconds, label]) => (
            <option key={seconds} value={seconds}>
              {label}
            </option>
          ))}
        </select>{' '}
        more. A revoked key is refused within a second.
      </p>
    </section>
  );
}

/** Finds the row of a key whose text the user has: the list does not contain it. */
function WhichKey({
  keys,
  onFound,
}: {
  keys: readonly KeyRecord[];
  onFound: (id: string | undefined) => void;
}) {
  const [text, setText] = useState('');
  const [message, setMessage] = useState('');
  const find = async () => {
    const id = await askWithKey<AccountAnswer>(text.trim(), '/account').then(
      ({ key }) => key.id,
      () => undefined,
    );
    const isListed = keys.some((key) => key.id === id);
    onFound(isListed ? id : undefined);
    setMessage(isListed ? `It is ${id}.` : 'It is none of these keys, or it no longer works.');
  };
  return (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault();
        void find();
      }}
    >
      <label>
        Which key is this?
        <input
          type="password"
          autocomplete="off"
          placeholder="Paste a key"
          required
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="button">
        Find it
      </button>
      <span role="status">{message}</span>
    </form>
  );
}

function NewKey({ issued, onDone }: { issued: IssuedAnswer; onDone: () => void }) {
  return (
    <Notice
      kind="done"
      title="Your new key, shown this once"
      action={
        <button type="button" class="button" onClick={onDone}>
          I have kept it
        </button>
      }
    >
      <p>
        <code>{issued.key.id}</code> is <code class="new-key">{issued.apiKey}</code>{' '}
        <CopyButton text={issued.apiKey} label="Copy the new key" />
      </p>
    </Notice>
  );
}

function lastUse({ lastUsedAt }: KeyRecord): string {
  return lastUsedAt == null ? 'none lately' : ago(new Date(lastUsedAt * 1000).toISOString());
}

function rulesOf({ allowedIps, headerOnly }: KeyRecord): string {
  const rules = [
    ...(headerOnly ? ['header only'] : []),
    ...(allowedIps ? [`from ${allowedIps.join(', ')}`] : []),
  ];
  return rules.join('; ') || 'none';
}

function isIssued(answer: unknown): answer is IssuedAnswer {
  return typeof answer === 'object' && answer !== null && 'apiKey' in answer;
}
