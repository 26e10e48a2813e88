import type { ImportForm } from './send-file.ts';

/** Which symbols the rows of a file are of, and where they come from. */
export function ImportFields({
  form,
  onChange,
}: {
  form: ImportForm;
  onChange: (fields: Partial<ImportForm>) => void;
}) {
  return (
    <>
      <label>
        Symbol of all rows
        <input
          value={form.symbol}
          placeholder="XAU"
          disabled={form.symbolColumn !== ''}
          required={form.symbolColumn === ''}
          onInput={(event) => onChange({ symbol: event.currentTarget.value })}
        />
      </label>
      <label>
        or column with symbols
        <input
          value={form.symbolColumn}
          placeholder="Code"
          disabled={form.symbol !== ''}
          onInput={(event) => onChange({ symbolColumn: event.currentTarget.value })}
        />
      </label>
      <label>
        Source
        <input
          value={form.source}
          placeholder="import"
          onInput={(event) => onChange({ source: event.currentTarget.value })}
        />
      </label>
    </>
  );
}
