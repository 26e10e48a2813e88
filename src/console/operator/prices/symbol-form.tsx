import { useState } from 'preact/hooks';
import { typedCapitals } from '../../editing/capitals.ts';
import { EditForm } from '../../editing/edit-form.tsx';

export interface AdminSymbol {
  code: string;
  name: string;
  category: string;
  currency: { code: string; name: string; symbol: string };
  unit: { symbol: string; name: string };
  market: string;
  decimals: number;
  status: string;
  updateInterval: string;
  aliases: string[];
  real: boolean;
}

const NEW: AdminSymbol = {
  code: '',
  name: '',
  category: '',
  currency: { code: 'USD', name: 'US Dollar', symbol: '$' },
  unit: { symbol: '', name: '' },
  market: 'SPOT',
  decimals: 2,
  status: 'active',
  updateInterval: 'day',
  aliases: [],
  real: false,
};

/** Defines a symbol, or changes one. */
export function SymbolForm({
  symbol = NEW,
  onSave,
  onCancel,
}: {
  symbol: AdminSymbol | undefined;
  onSave: (symbol: AdminSymbol) => Promise<void>;
  onCancel: () => void;
}) {
  const [draft, setDraft] = useState(symbol);
  const [aliases, setAliases] = useState(symbol.aliases.join(', '));
  const { currency, unit } = draft;
  const fields: [label: string, value: string, set: (text: string) => AdminSymbol][] = [
    ['Name', draft.name, (name) => ({ ...draft, name })],
    ['Category', draft.category, (category) => ({ ...draft, category })],
    ['Currency', currency.code, (code) => ({ ...draft, currency: { ...currency, code } })],
    ['Its name', currency.name, (name) => ({ ...draft, currency: { ...currency, name } })],
    ['Its sign', currency.symbol, (sign) => ({ ...draft, currency: { ...currency, symbol: sign } })],
    ['Unit', unit.symbol, (sign) => ({ ...draft, unit: { ...unit, symbol: sign } })],
    ['Unit in words', unit.name, (name) => ({ ...draft, unit: { ...unit, name } })],
  ];
  return (
    <EditForm
      onSave={() => onSave({ ...draft, code: draft.code.trim(), aliases: codesOf(aliases) })}
      onCancel={onCancel}
    >
      <label>
        Code
        <input
          value={draft.code}
          readOnly={symbol !== NEW}
          required
          maxLength={32}
          onInput={(event) => setDraft({ ...draft, code: typedCapitals(event.currentTarget) })}
        />
      </label>
      {fields.map(([label, value, set]) => (
        <label key={label}>
          {label}
          <input value={value} required onInput={(event) => setDraft(set(event.currentTarget.value))} />
        </label>
      ))}
      <label>
        Market
        <input
          value={draft.market}
          required
          onInput={(event) => setDraft({ ...draft, market: typedCapitals(event.currentTarget) })}
        />
      </label>
      <label>
        Decimals
        <input
          type="number"
          min={0}
          max={12}
          required
          defaultValue={symbol.decimals} // a value would be written back while a number is being typed
          onInput={(event) => setDraft({ ...draft, decimals: event.currentTarget.valueAsNumber })}
        />
      </label>
      <label>
        Updated
        <select
          value={draft.updateInterval}
          onChange={(event) => setDraft({ ...draft, updateInterval: event.currentTarget.value })}
        >
          {['minute', 'day', 'week', 'month'].map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      <label>
        Status
        <select
          value={draft.status}
          onChange={(event) => setDraft({ ...draft, status: event.currentTarget.value })}
        >
          <option>active</option>
          <option>deprecated</option>
        </select>
      </label>
      <label>
        Also known as
        <input
          value={aliases}
          placeholder="other codes"
          onInput={(event) => setAliases(event.currentTarget.value)}
        />
      </label>
    </EditForm>
  );
}

function codesOf(text: string): string[] {
  return text
    .toUpperCase()
    .split(/[,\s]+/)
    .filter(Boolean);
}
