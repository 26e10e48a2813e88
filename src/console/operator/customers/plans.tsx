import { useState } from 'preact/hooks';
import type { AdminPlan } from '../../api/answers.ts';
import { askAsOperator, ONLY_NEW } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { EditForm } from '../../editing/edit-form.tsx';
import { EditedList, useListEditor } from '../../editing/edited-list.tsx';
import { RowActions } from '../../editing/row-actions.tsx';
import { count, duration } from '../../show/format.ts';
import { StackTable } from '../../show/stack-table.tsx';

type Limit = Exclude<keyof AdminPlan, 'name' | 'history'>;

const LIMITS: readonly [Limit, string][] = [
  ['quota', 'Units per month'],
  ['delaySeconds', 'Delay, seconds'],
  ['maxSymbols', 'Symbols'],
  ['maxSpanDays', 'Days in a series'],
  ['burstPerSecond', 'Per second'],
];

const NEW: AdminPlan = {
  name: '',
  quota: 10_000,
  delaySeconds: 600,
  maxSymbols: 20,
  maxSpanDays: null,
  burstPerSecond: 20,
  history: true,
};

/** Plans: list, change, create. A change applies to every account on the plan within a second. */
export function Plans({ token }: { token: string }) {
  const loaded = useLoad(
    async () => (await askAsOperator<{ plans: AdminPlan[] }>(token, '/admin/plans')).plans,
    [token],
  );
  const editor = useListEditor<AdminPlan>(loaded.reload);
  const { action, edited, edit, change } = editor;
  const put = ({ name, ...body }: AdminPlan, headers = {}) =>
    askAsOperator(token, pathOf(name), { method: 'PUT', body, headers });
  const remove = (name: string) => askAsOperator(token, pathOf(name), { method: 'DELETE' });
  const save = (plan: AdminPlan) => {
    const before = edited === NEW ? undefined : loaded.data?.find(({ name }) => name === plan.name);
    return change(() => put(plan, before ? {} : ONLY_NEW), {
      text: `The plan ${plan.name} is ${before ? 'changed' : 'created'}.`,
      undo: () => (before ? put(before) : remove(plan.name)),
    });
  };
  return (
    <EditedList
      id="plans"
      title="Plans"
      loaded={loaded}
      editor={editor}
      tools={
        <button type="button" class="button small" onClick={() => edit(NEW)}>
          New plan
        </button>
      }
    >
      {edited && (
        <Editor
          key={edited.name}
          plan={edited}
          isNew={edited === NEW}
          onSave={save}
          onCancel={() => edit(undefined)}
        />
      )}
      {loaded.data && (
        <StackTable
          rows={loaded.data}
          keyOf={(plan) => plan.name}
          columns={[
            ['Plan', (plan) => plan.name],
            ...LIMITS.map(
              ([name, label]) =>
                [
                  label.replace(', seconds', ''),
                  (plan: AdminPlan) => limitText(plan, name),
                  'number',
                ] as const,
            ),
            ['Long history', (plan) => (plan.history ? 'yes' : 'no')],
          ]}
          actions={(plan) => (
            <RowActions
              kind="the plan"
              name={plan.name}
              sure="Delete the plan"
              isBusy={action.isBusy}
              onEdit={() => edit(plan)}
              onDelete={() =>
                change(() => remove(plan.name), {
                  text: `The plan ${plan.name} is deleted.`,
                  undo: () => put(plan, ONLY_NEW),
                })
              }
            />
          )}
        />
      )}
    </EditedList>
  );
}

function pathOf(name: string): string {
  return `/admin/plans/${encodeURIComponent(name)}`;
}

/** The span of a plan that sets none. */
const BY_VERSION = '30 in v1, 365 later';

function limitText(plan: AdminPlan, name: Limit): string {
  const limit = plan[name];
  if (limit === null) return BY_VERSION;
  return name === 'delaySeconds' ? duration(limit) : count(limit);
}

function Editor({
  plan,
  isNew,
  onSave,
  onCancel,
}: {
  plan: AdminPlan;
  isNew: boolean;
  onSave: (plan: AdminPlan) => Promise<void>;
  onCancel: () => void;
}) {
  const [draft, setDraft] = useState(plan);
  return (
    <EditForm onSave={() => onSave(draft)} onCancel={onCancel}>
      <label>
        Name
        <input
          value={draft.name}
          readOnly={!isNew}
          required
          pattern="[a-z0-9][a-z0-9_\-]*"
          maxLength={32}
          onInput={(event) => setDraft({ ...draft, name: event.currentTarget.value })}
        />
      </label>
      {LIMITS.map(([name, label]) => (
        <label key={name}>
          {label}
          <input
            type="number"
            min={0}
            required={name !== 'maxSpanDays'}
            placeholder={name === 'maxSpanDays' ? BY_VERSION : undefined}
            defaultValue={plan[name] ?? ''} // a value would be written back while a number is being typed
            onInput={({ currentTarget: { value, valueAsNumber } }) =>
              setDraft({ ...draft, [name]: value === '' && name === 'maxSpanDays' ? null : valueAsNumber })
            }
          />
        </label>
      ))}
      <label class="check">
        <input
          type="checkbox"
          checked={draft.history}
          onChange={(event) => setDraft({ ...draft, history: event.currentTarget.checked })}
        />
        Long history
      </label>
    </EditForm>
  );
}
