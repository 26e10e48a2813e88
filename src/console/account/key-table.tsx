import type { KeyRecord } from '../api/answers.ts';
import { SureButton } from '../editing/sure-button.tsx';
import { ago, dayOfSeconds, dayOrTime } from '../show/format.ts';
import { StackTable } from '../show/stack-table.tsx';

/** The keys of an account. Those that work have buttons to change, rotate and revoke them. */
export function KeyTable({
  keys,
  own,
  isNew,
  found,
  isBusy,
  onEdit,
  onRotate,
  onRevoke,
}: {
  keys: readonly KeyRecord[];
  /** The key that this page uses, if it is one of them. */
  own: string | undefined;
  isNew: (id: string) => boolean;
  /** The key whose text was pasted. */
  found: string | undefined;
  isBusy: boolean;
  onEdit: (key: KeyRecord) => void;
  onRotate: (key: KeyRecord) => void;
  onRevoke: (key: KeyRecord) => void;
}) {
  return (
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
              onClick={() => onEdit(key)}
            >
              Change
            </button>
            <SureButton
              label="Rotate"
              sure="Rotate now"
              describe={key.id}
              disabled={isBusy}
              onSure={() => onRotate(key)}
            />
            <SureButton
              label="Revoke"
              sure="Revoke for good"
              describe={key.id}
              disabled={isBusy}
              onSure={() => onRevoke(key)}
            />
          </>
        )
      }
    />
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
