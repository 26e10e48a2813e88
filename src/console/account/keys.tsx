import { useState } from 'preact/hooks';
import type { IssuedAnswer, KeyRecord } from '../api/answers.ts';
import { SureButton } from '../editing/sure-button.tsx';
import { useAction } from '../editing/use-action.ts';
import { ago, dayOfSeconds, dayOrTime } from '../show/format.ts';
import { CopyButton, Failure, Notice } from '../show/parts.tsx';
import { StackTable } from '../show/stack-table.tsx';
import { givenRules, type KeyRulesBody, KeyRulesForm } from './key-rules.tsx';
import { WhichKey } from './which-key.tsx';

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

/** The keys of an account, with create, change, rotate and revoke. The text of a new key is shown once, until it is dismissed. */
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
  const [issued, setIssued] = useState<readonly IssuedAnswer[]>([]);
  const { isBusy, error, run, clear } = useAction();
  const [found, setFound] = useState<string>();
  const [edited, setEdited] = useState<KeyRecord | 'new'>();
  const [overlapSeconds, setOverlapSeconds] = useState(DAY_SECONDS);
  const isNew = (id: string) => issued.some(({ key }) => key.id === id);
  const change = (action: () => Promise<unknown>, replaced?: string) =>
    run(async () => {
      const answer = await action();
      const made = isIssued(answer) ? answer : undefined;
      if (made) setIssued((shown) => [made, ...shown]);
      onChange(made, replaced);
    });
  const save = (record: KeyRecord | 'new', rules: KeyRulesBody) =>
    change(async () => {
      const answer = await (record === 'new'
        ? actions.create(givenRules(rules))
        : actions.update(record.id, rules));
      setEdited((now) => (now === record ? undefined : now)); // a refused form keeps its text
      return answer;
    });
  return (
    <section class="card" aria-labelledby="keys-title">
      <div class="card-head">
        <h2 id="keys-title">{title}</h2>
        <button type="button" class="button small" onClick={() => setEdited('new')}>
          Create a key
        </button>
      </div>
      {error !== undefined && <Failure error={error} />}
      {issued.map((one) => (
        <NewKey
          key={one.key.id}
          issued={one}
          onDone={() => setIssued((shown) => shown.filter((other) => other !== one))}
        />
      ))}
      {edited && (
        <KeyRulesForm
          key={edited === 'new' ? '' : edited.id}
          {...(edited !== 'new' && { record: edited })}
          button={edited === 'new' ? 'Create' : 'Save'}
          disabled={isBusy}
          onCancel={() => {
            setEdited(undefined);
            clear();
          }}
          onSave={(rules) => save(edited, rules)}
        />
      )}
      <StackTable
        rows={keys}
        keyOf={({ id }) => id}
        isMarked={({ id }) => isNew(id) || id === found}
        columns={[
          [
            'Key',
            ({ id, name }) => (
              <>
                {name !== '' && <span class="key-name">{name}</span>} <code>{id}</code>{' '}
                {id === own && <span class="badge">this one</span>}{' '}
                {isNew(id) && <span class="badge good">new</span>}{' '}
                {id === found && <span class="badge good">the key you pasted</span>}
              </>
            ),
          ],
          [
            'State',
            ({ status }) => <span class={`badge ${status === 'active' ? 'good' : 'bad'}`}>{status}</span>,
          ],
          ['Created', ({ createdAt }) => dayOfSeconds(createdAt)],
          ['Last use', lastUse],
          ['Expires', expiry],
          ['Rules', rulesOf],
        ]}
        actions={(key) =>
          key.status === 'active' && (
            <>
              <button
                type="button"
                class="button small"
                aria-label={`Change ${key.id}`}
                onClick={() => setEdited(key)}
              >
                Change
              </button>
              <SureButton
                label="Rotate"
                sure="Rotate now"
                describe={key.id}
                disabled={isBusy}
                onSure={() => change(() => actions.rotate(key.id, overlapSeconds), key.id)}
              />
              <SureButton
                label="Revoke"
                sure="Revoke for good"
                describe={key.id}
                disabled={isBusy}
                onSure={() => change(() => actions.revoke(key.id))}
              />
            </>
          )
        }
      />
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

/** A key whose text is shown until the user has saved it. */
export function NewKey({
  issued,
  title = 'Your new key, shown only once',
  onDone,
}: {
  issued: IssuedAnswer;
  title?: string;
  onDone: () => void;
}) {
  return (
    <Notice
      kind="done"
      title={title}
      action={
        <button type="button" class="button" onClick={onDone}>
          I have saved it
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

/** A key that was rotated may expire in minutes. */
function expiry({ expiresAt }: KeyRecord): string {
  return expiresAt === null ? 'never' : dayOrTime(new Date(expiresAt * 1000).toISOString());
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
