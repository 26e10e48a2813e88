import { useState } from 'preact/hooks';
import { askAsOperator, ONLY_NEW } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { linkTo } from '../../data/route.ts';
import { typedCapitals } from '../../editing/capitals.ts';
import { EditForm } from '../../editing/edit-form.tsx';
import { EditedList, useListEditor } from '../../editing/edited-list.tsx';
import { RowActions } from '../../editing/row-actions.tsx';
import { StackTable } from '../../show/stack-table.tsx';

interface Formula {
  code: string;
  name: string;
  expression: string;
  unit: string;
  currency: string;
}

const NEW: Formula = { code: '', name: '', expression: '', unit: '', currency: '' };

/** What the service stores where a formula has no unit or currency. */
const NONE = 'none';

/** Formulas that can be requested by a code of their own: define, change, delete. Each change can be undone. */
export function Formulas({ token }: { token: string }) {
  const loaded = useLoad(
    async () => (await askAsOperator<{ formulas: Formula[] }>(token, '/admin/formulas')).formulas,
    [token],
  );
  const editor = useListEditor<Formula>(loaded.reload);
  const { action, edited, edit, change } = editor;
  const put = ({ code, ...body }: Formula, headers = {}) =>
    askAsOperator(token, pathOf(code), { method: 'PUT', body: { ...body, ...measures(body) }, headers });
  const remove = (code: string) => askAsOperator(token, pathOf(code), { method: 'DELETE' });
  const save = (formula: Formula) => {
    const before = edited === NEW ? undefined : loaded.data?.find(({ code }) => code === formula.code);
    return change(() => put(formula, before ? {} : ONLY_NEW), {
      text: `${formula.code} is ${before ? 'changed' : 'defined'}.`,
      undo: () => (before ? put(before) : remove(formula.code)),
    });
  };
  return (
    <EditedList
      id="formulas"
      title="Formulas"
      hint="A spread, a ratio or a margin that customers request by a code, like a symbol. It is computed from the prices of its symbols, so it has no prices of its own."
      loaded={loaded}
      editor={editor}
      tools={
        <button type="button" class="button small" onClick={() => edit(NEW)}>
          New formula
        </button>
      }
    >
      {edited && (
        <FormulaForm key={edited.code} formula={edited} onSave={save} onCancel={() => edit(undefined)} />
      )}
      {loaded.data?.length === 0 && !edited && <p class="hint">None is defined yet.</p>}
      {loaded.data && loaded.data.length > 0 && (
        <StackTable
          rows={loaded.data}
          keyOf={(one) => one.code}
          columns={[
            ['Code', (one) => <a href={linkTo('symbol', one.expression)}>{one.code}</a>],
            ['Name', (one) => one.name],
            ['Formula', (one) => <code class="formula">{one.expression}</code>],
            ['Price in', measureText],
          ]}
          actions={(one) => (
            <RowActions
              kind="the formula"
              name={one.code}
              sure="Delete the formula"
              isBusy={action.isBusy}
              onEdit={() => edit({ ...one, unit: shown(one.unit), currency: shown(one.currency) })}
              onDelete={() =>
                change(() => remove(one.code), {
                  text: `${one.code} is deleted.`,
                  undo: () => put(one, ONLY_NEW),
                })
              }
            />
          )}
        />
      )}
    </EditedList>
  );
}

function FormulaForm({
  formula,
  onSave,
  onCancel,
}: {
  formula: Formula;
  onSave: (formula: Formula) => Promise<void>;
  onCancel: () => void;
}) {
  const [draft, setDraft] = useState(formula);
  const isNew = formula.code === '';
  const field = (
    name: keyof Formula,
    label: string,
    options: { placeholder: string; required?: boolean },
  ) => (
    <label class={name === 'expression' ? 'wide' : undefined}>
      {label}
      <input
        {...options}
        value={draft[name]}
        spellcheck={name === 'name'}
        readOnly={name === 'code' && !isNew}
        onInput={({ currentTarget }) =>
          setDraft({ ...draft, [name]: name === 'code' ? typedCapitals(currentTarget) : currentTarget.value })
        }
      />
    </label>
  );
  return (
    <EditForm onSave={() => onSave({ ...draft, code: draft.code.trim() })} onCancel={onCancel}>
      {field('code', 'Code', { placeholder: 'BRENT-WTI', required: true })}
      {field('name', 'Name', { placeholder: 'Brent premium', required: true })}
      {field('expression', 'Formula: symbols in braces, numbers, + − * / and parentheses', {
        placeholder: '{BRENTOIL-FUT}-{WTIOIL-FUT}',
        required: true,
      })}
      {field('currency', 'Currency (none for a ratio)', { placeholder: 'USD' })}
      {field('unit', 'Unit (none for a ratio)', { placeholder: 'Bbl' })}
    </EditForm>
  );
}

function pathOf(code: string): string {
  return `/admin/formulas/${encodeURIComponent(code)}`;
}

function measures({ unit, currency }: Pick<Formula, 'unit' | 'currency'>) {
  return { unit: unit.trim() || NONE, currency: currency.trim() || NONE };
}

/** A field is empty where there is no measure. */
function shown(measure: string): string {
  return measure === NONE ? '' : measure;
}

function measureText({ unit, currency }: Formula): string {
  return [currency, unit].filter((one) => one !== NONE).join('/') || 'a ratio';
}
