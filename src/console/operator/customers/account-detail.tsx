import { Keys } from '../../account/keys.tsx';
import { UsageCard } from '../../account/usage-card.tsx';
import type { IssuedAnswer, KeyRecord, UsageDailyAnswer } from '../../api/answers.ts';
import { askAsOperator } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { SureButton } from '../../editing/sure-button.tsx';
import { count, dayOfSeconds } from '../../show/format.ts';
import { Failure, Loading } from '../../show/parts.tsx';

interface AccountDetailAnswer extends UsageDailyAnswer {
  keys: KeyRecord[];
}

/** The usage and keys of an account, and its deletion. */
export function AccountDetail({
  token,
  id,
  name,
  onDelete,
}: {
  token: string;
  id: string;
  name: string;
  onDelete: () => void;
}) {
  const path = `/admin/accounts/${encodeURIComponent(id)}`;
  const loaded = useLoad(() => askAsOperator<AccountDetailAnswer>(token, path), [token, id]);
  const failure = loaded.state === 'failed' && <Failure error={loaded.error} onRetry={loaded.reload} />;
  if (!loaded.data) return failure || <Loading label="Reading the account" lines={4} />;
  const { keys, events } = loaded.data;
  return (
    <>
      {failure}
      <UsageCard daily={loaded.data} keys={keys} />
      {events.length > 0 && (
        <ul class="hint">
          {events.map(({ percent, at, used, quota }) => (
            <li key={`${percent} ${at}`}>
              {percent} % of the quota was reached on {dayOfSeconds(at)}: {count(used)} of {count(quota)}
            </li>
          ))}
        </ul>
      )}
      <Keys
        keys={keys}
        title={`Keys of ${name}`}
        actions={keyActions(token, path)}
        onChange={() => loaded.reload()}
      />
      <p class="choices">
        <SureButton
          label="Delete the account"
          sure="Delete it with its keys and usage, for good"
          describe={name}
          onSure={onDelete}
        />
      </p>
    </>
  );
}

function keyActions(token: string, account: string) {
  const pathOf = (key: string) => `/admin/keys/${encodeURIComponent(key)}`;
  const post = (path: string, body: object) =>
    askAsOperator<IssuedAnswer>(token, path, { method: 'POST', body });
  return {
    create: (rules: object) => post(`${account}/keys`, rules),
    update: (key: string, body: object) => askAsOperator(token, pathOf(key), { method: 'PATCH', body }),
    rotate: (key: string, overlapSeconds: number) => post(`${pathOf(key)}/rotate`, { overlapSeconds }),
    revoke: (key: string) => askAsOperator(token, pathOf(key), { method: 'DELETE' }),
  };
}
