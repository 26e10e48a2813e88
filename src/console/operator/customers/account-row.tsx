import { useEffect, useState } from 'preact/hooks';
import { SureButton } from '../../editing/sure-button.tsx';
import { count, UNLIMITED } from '../../show/format.ts';
import { AccountDetail } from './account-detail.tsx';

/** An account in a list. */
export interface AccountSummary {
  id: string;
  name: string;
  plan: string;
  status: 'active' | 'suspended';
  used: number;
  quota: number;
}

export interface AccountChange {
  plan?: string;
  status?: AccountSummary['status'];
}

/** An account, with its detail while it is open. */
export function AccountRow({
  token,
  account,
  plans,
  isOpen,
  onOpen,
  onChange,
  onDelete,
}: {
  token: string;
  account: AccountSummary;
  plans: readonly string[];
  isOpen: boolean;
  onOpen: () => void;
  onChange: (body: AccountChange) => void;
  onDelete: () => void;
}) {
  const { id, name, plan, status, used, quota } = account;
  /** The plan that was chosen, until the accounts have been read again. */
  const [chosen, setChosen] = useState<string>();
  useEffect(() => setChosen(undefined), [account]);
  return (
    <>
      <tr>
        <th scope="row">
          {name} <span class="code">{id}</span>
        </th>
        <td data-label="State">
          <span class={`badge ${status === 'active' ? 'good' : 'bad'}`}>{status}</span>
        </td>
        <td data-label="Plan">
          <select
            aria-label={`Plan of ${name}`}
            value={chosen ?? plan}
            onChange={(event) => {
              setChosen(event.currentTarget.value);
              onChange({ plan: event.currentTarget.value });
            }}
          >
            {plans.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </td>
        <td data-label="Used this month" class="number">
          {count(used)} {count(quota) === UNLIMITED ? '' : `of ${count(quota)}`}
        </td>
        <td class="actions">
          <button
            type="button"
            class="button small"
            aria-expanded={isOpen}
            aria-label={`Usage and keys of ${name}`}
            onClick={onOpen}
          >
            Usage and keys
          </button>
          {status === 'active' ? (
            <SureButton
              label="Suspend"
              sure="Suspend now"
              describe={name}
              onSure={() => onChange({ status: 'suspended' })}
            />
          ) : (
            <button
              type="button"
              class="button small"
              aria-label={`Resume ${name}`}
              onClick={() => onChange({ status: 'active' })}
            >
              Resume
            </button>
          )}
        </td>
      </tr>
      {isOpen && (
        <tr class="detail">
          <td colSpan={5}>
            <AccountDetail token={token} id={id} name={name} onDelete={onDelete} />
          </td>
        </tr>
      )}
    </>
  );
}
