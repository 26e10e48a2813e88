import { useState } from 'preact/hooks';
import type { KeyRecord } from '../api/answers.ts';
import { EditForm } from '../editing/edit-form.tsx';

/** The name and rules of a key, as the service takes them. */
export interface KeyRulesBody {
  name: string;
  expiresAt: number | null;
  allowedIps: string[] | null;
  headerOnly: boolean;
}

const DAY_SECONDS = 86_400;

/** Edits the name and rules of a key, or of a new one. */
export function KeyRulesForm({
  record,
  button,
  disabled,
  onSave,
  onCancel,
}: {
  record?: KeyRecord;
  button: string;
  /** Whether it cannot be saved now, because a change is on its way. */
  disabled: boolean;
  onSave: (rules: KeyRulesBody) => Promise<void>;
  onCancel: () => void;
}) {
  const [name, setName] = useState(record?.name ?? '');
  const expiresBefore = record?.expiresAt ? dayText(record.expiresAt) : '';
  const [expires, setExpires] = useState(expiresBefore);
  const [addresses, setAddresses] = useState(record?.allowedIps?.join(', ') ?? '');
  const [headerOnly, setHeaderOnly] = useState(record?.headerOnly ?? false);
  const save = () => {
    const ips = addresses.split(/[,\s]+/).filter(Boolean);
    const expiresAt = record && expires === expiresBefore ? record.expiresAt : endOf(expires);
    return onSave({ name: name.trim(), expiresAt, allowedIps: ips.length > 0 ? ips : null, headerOnly });
  };
  return (
    <EditForm class="fields key-rules" label={button} disabled={disabled} onSave={save} onCancel={onCancel}>
      {record && (
        <p class="hint wide">
          Change <code>{record.id}</code>
        </p>
      )}
      <label>
        Name
        <input
          value={name}
          maxLength={64}
          placeholder="What it is for"
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <label>
        Expires after
        <input type="date" value={expires} onInput={(event) => setExpires(event.currentTarget.value)} />
      </label>
      <label>
        Only from these addresses
        <input
          value={addresses}
          placeholder="any, or 203.0.113.0/24"
          onInput={(event) => setAddresses(event.currentTarget.value)}
        />
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={headerOnly}
          onChange={(event) => setHeaderOnly(event.currentTarget.checked)}
        />
        Refuse it in URLs
      </label>
    </EditForm>
  );
}

/** The rules that were filled in: a new key must not be sent what it does not have. */
export function givenRules({ name, expiresAt, allowedIps, headerOnly }: KeyRulesBody): Partial<KeyRulesBody> {
  return {
    ...(name !== '' && { name }),
    ...(expiresAt !== null && { expiresAt }),
    ...(allowedIps !== null && { allowedIps }),
    ...(headerOnly && { headerOnly }),
  };
}

/** A key that expires after a day works until its end, in UTC. */
function endOf(date: string): number | null {
  return date === '' ? null : Date.parse(date) / 1000 + DAY_SECONDS - 1;
}

function dayText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}
