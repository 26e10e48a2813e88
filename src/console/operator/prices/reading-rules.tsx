import type { ImportForm } from './send-file.ts';

const TEXTS: readonly [name: keyof ImportForm & string, label: string, placeholder: string][] = [
  ['dateColumn', 'Date column', 'name or number'],
  ['valueColumn', 'Price column', 'name or number'],
  ['ohlcColumns', 'Open, high, low, close', 'O,H,L,C'],
  ['sheet', 'Sheet, or file in a zip', 'name'],
  ['zone', 'Time zone of timestamps', 'Europe/London'],
];

/** Settings for ambiguous files; most files need none. */
export function ReadingRules({
  form,
  onChange,
}: {
  form: ImportForm;
  onChange: (fields: Partial<ImportForm>) => void;
}) {
  return (
    <details class="more rules">
      <summary>How to read an ambiguous file</summary>
      <div class="fields">
        {TEXTS.map(([name, label, placeholder]) => (
          <label key={name}>
            {label}
            <input
              value={String(form[name])}
              placeholder={placeholder}
              onInput={(event) => onChange({ [name]: event.currentTarget.value })}
            />
          </label>
        ))}
        <label>
          Dates such as 03/04/2026
          <select
            value={form.dateOrder}
            onChange={(event) => onChange({ dateOrder: event.currentTarget.value })}
          >
            <option value="">detect from the file</option>
            <option value="dmy">day first</option>
            <option value="mdy">month first</option>
          </select>
        </label>
        <label>
          Numbers such as 1,234
          <select value={form.decimal} onChange={(event) => onChange({ decimal: event.currentTarget.value })}>
            <option value="">detect from the file</option>
            <option value="point">decimal point (1234)</option>
            <option value="comma">decimal comma (1.234)</option>
          </select>
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={form.accept}
            onChange={(event) => onChange({ accept: event.currentTarget.checked })}
          />
          Publish prices that look wrong
        </label>
      </div>
    </details>
  );
}
