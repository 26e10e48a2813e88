import { useState } from 'preact/hooks';
import { Keys } from '../../account/keys.tsx';
import type { IssuedAnswer, KeyRecord, PlanRecord } from '../../api/answers.ts';
import { askAsOperator } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { count } from '../../show/format.ts';
import { ActionsHead, CopyButton, Failure, Loading, Notice, SureButton } from '../../show/parts.tsx';

interface AccountRow {
  id: string;
  name: string;
  plan: string;
  status: 'active' | 'suspended';
  used: number;
  quota: number;
}

/** Accounts: find, create, suspend, resume, change the plan, manage keys. */
export function Accounts({ token }: { token: string }) {
  const [search, setSearch] = useState('');
  const [opened, setOpened] = useState<string>();
  const [issued, setIssued] = useState<IssuedAnswer>();
  const [error, setError] = useState<unknown>();
  const loaded = useLoad(async () => {
    const query = new URLSearchParams({ search });
    const { accounts } = await askAsOperator<{ accounts: AccountRow[] }>(token, `/admin/accounts?${query}`);
    const { plans } = await askAsOperator<{ plans: PlanRecord[] }>(token, '/admin/plans');
    return { accounts, plans: plans.map(({ name }) => name) };
  }, [token, search]);
  const change = async (action: () => Promise<unknown>) => {
    setError(undefined);
    await action().catch(setError);
    loaded.reload();
  };
  const update = (id: string, body: object) =>
    change(() =>
      askAsOperator(token, `/admin/accounts/${encodeURIComponent(id)}`, { method: 'PATCH', body }),
    );
  const shown = loaded.data;
  return (
    <section class="card" aria-labelledby="accounts-title">
      <div class="card-head">
        <h2 id="accounts-title">Accounts</h2>
        <input
          type="search"
          placeholder="Search accounts"
          aria-label="Search accounts"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </div>
      {error !== undefined && <Failure error={error} />}
      {loaded.state === 'failed' && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {shown && (
        <NewAccount
          plans={shown.plans}
          onCreate={(body) =>
            change(async () => {
              setIssued(
                await askAsOperator<IssuedAnswer>(token, '/admin/accounts', { method: 'POST', body }),
              );
            })
          }
        />
      )}
      {issued && (
        <Notice kind="done" title="The account's first key, shown this once">
          <p>
            <code class="new-key">{issued.apiKey}</code>{' '}
            <CopyButton text={issued.apiKey} label="Copy the new key" />
          </p>
        </Notice>
      )}
      {!shown && loaded.state === 'loading' && <Loading label="Reading the accounts" />}
      {shown?.accounts.length === 0 && (
        <p class="hint">
          {search === '' ? 'No account yet. Make the first one above.' : 'No account matches.'}
        </p>
      )}
      {shown && shown.accounts.length > 0 && (
        <table class="plain stack">
          <thead>
            <tr>
              <th scope="col">Account</th>
              <th scope="col">State</th>
              <th scope="col">Plan</th>
              <th scope="col" class="number">
                Used this month
              </th>
              <ActionsHead />
            </tr>
          </thead>
          <tbody>
            {shown.accounts.map((one) => (
              <tr key={one.id}>
                <th scope="row">
                  {one.name} <span class="code">{one.id}</span>
                </th>
                <td data-label="State">
                  <span class={`badge ${one.status === 'active' ? 'good' : 'bad'}`}>{one.status}</span>
                </td>
                <td data-label="Plan">
                  <select
                    aria-label={`Plan of ${one.name}`}
                    value={one.plan}
                    onChange={(event) => update(one.id, { plan: event.currentTarget.value })}
                  >
                    {shown.plans.map((plan) => (
                      <option key={plan}>{plan}</option>
                    ))}
                  </select>
                </td>
                <td data-label="Used this month" class="number">
                  {count(one.used)} of {count(one.quota)}
                </td>
                <td class="actions">
                  <button
                    type="button"
                    class="button small"
                    aria-expanded={opened === one.id}
                    aria-label={`Keys of ${one.name}`}
                    onClick={() => setOpened(opened === one.id ? undefined : one.id)}
                  >
                    Keys
                  </button>
                  {one.status === 'active' ? (
                    <SureButton
                      label="Suspend"
                      sure="Suspend now"
                      describe={one.name}
                      onSure={() => update(one.id, { status: 'suspended' })}
                    />
                  ) : (
                    <button
                      type="button"
                      class="button small"
                      onClick={() => update(one.id, { status: 'active' })}
                    >
                      Resume
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {opened && (
        <AccountKeys
          token={token}
          id={opened}
          name={shown?.accounts.find(({ id }) => id === opened)?.name ?? opened}
        />
      )}
    </section>
  );
}

function NewAccount({
  plans,
  onCreate,
}: {
  plans: readonly string[];
  onCreate: (body: { name: string; plan: string }) => void;
}) {
  const [name, setName] = useState('');
  const [plan, setPlan] = useState(plans.includes('basic') ? 'basic' : (plans[0] ?? ''));
  return (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault();
        onCreate({ name, plan });
        setName('');
      }}
    >
      <label>
        New account
        <input
          value={name}
          placeholder="Name"
          required
          maxLength={200}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <label>
        Plan
        <select value={plan} onChange={(event) => setPlan(event.currentTarget.value)}>
          {plans.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      <button type="submit" class="button primary">
        Create account
      </button>
    </form>
  );
}

function AccountKeys({ token, id, name }: { token: string; id: string; name: string }) {
  const path = `/admin/accounts/${encodeURIComponent(id)}`;
  const loaded = useLoad(() => askAsOperator<{ keys: KeyRecord[] }>(token, path), [token, id]);
  if (loaded.state === 'failed') return <Failure error={loaded.error} onRetry={loaded.reload} />;
  if (!loaded.data) return <Loading label="Reading the keys" lines={2} />;
  const post = (to: string, body: object = {}) =>
    askAsOperator<IssuedAnswer>(token, to, { method: 'POST', body });
  const actions = {
    create: (rules: object) => post(`${path}/keys`, rules),
    update: (key: string, body: object) =>
      askAsOperator(token, `/admin/keys/${encodeURIComponent(key)}`, { method: 'PATCH', body }),
    rotate: (key: string) => post(`/admin/keys/${encodeURIComponent(key)}/rotate`),
    revoke: (key: string) =>
      askAsOperator(token, `/admin/keys/${encodeURIComponent(key)}`, { method: 'DELETE' }),
  };
  return (
    <Keys
      keys={loaded.data.keys}
      title={`Keys of ${name}`}
      actions={actions}
      onChange={() => loaded.reload()}
    />
  );
}
