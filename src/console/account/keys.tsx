import { useState } from 'preact/hooks';
import type { IssuedAnswer, KeyRecord } from '../api/answers.ts';
import { DoneNotice } from '../editing/done-notice.tsx';
import { useAction } from '../editing/use-action.ts';
import { Failure } from '../show/parts.tsx';
import { givenRules, type KeyRulesBody, KeyRulesForm } from './key-rules.tsx';
import { KeyTable } from './key-table.tsx';
import { NewKey } from './new-key.tsx';
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
  const [done, setDone] = useState<string>();
  const change = (action: () => Promise<unknown>, replaced?: string, effect?: string) =>
    run(async () => {
      setDone(undefined);
      const answer = await action();
      setDone(effect);
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
      {done && <DoneNotice text={done} />}
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
      <KeyTable
        keys={keys}
        own={own}
        isNew={isNew}
        found={found}
        isBusy={isBusy}
        onEdit={setEdited}
        onRotate={({ id }) => change(() => actions.rotate(id, overlapSeconds), id)}
        onRevoke={({ id }) => change(() => actions.revoke(id), undefined, `${id} is revoked.`)}
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

function isIssued(answer: unknown): answer is IssuedAnswer {
  return typeof answer === 'object' && answer !== null && 'apiKey' in answer;
}
