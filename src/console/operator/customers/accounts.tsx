import { useRef, useState } from 'preact/hooks';
import { NewKey } from '../../account/new-key.tsx';
import type { IssuedAnswer, PlanRecord } from '../../api/answers.ts';
import { askAsOperator } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { DoneNotice } from '../../editing/done-notice.tsx';
import { useAction } from '../../editing/use-action.ts';
import { ActionsHead, Failure, Loading } from '../../show/parts.tsx';
import { type AccountChange, AccountRow, type AccountSummary } from './account-row.tsx';
import { NewAccount, type NewAccountBody } from './new-account.tsx';

interface AccountsPage {
  accounts: AccountSummary[];
  /** The path of the next page. */
  next: string | null;
}

interface CreatedAnswer extends IssuedAnswer {
  account: { id: string; name: string };
}

interface Done {
  text: string;
  undo?: () => unknown;
}

/** Accounts: find, create, suspend, resume, change the plan, see usage, manage keys, delete. */
export function Accounts({ token }: { token: string }) {
  const [search, setSearch] = useState('');
  const [opened, setOpened] = useState<string>();
  const [issued, setIssued] = useState<readonly CreatedAnswer[]>([]);
  const action = useAction();
  const [done, setDone] = useState<Done>();
  const loadedPlans = useLoad(async () => {
    const { plans } = await askAsOperator<{ plans: PlanRecord[] }>(token, '/admin/plans');
    return plans.map(({ name }) => name);
  }, [token]);
  /** How many pages are shown. All of them are read again after a change. */
  const pages = useRef(1);
  const loaded = useLoad(() => readPages(token, search, pages.current), [token, search]);
  const change = async <T,>(work: () => Promise<T>, effect?: Done) => {
    setDone(undefined);
    const answer = await action.run(work);
    if (answer) setDone(effect);
    loaded.reload();
    loadedPlans.reload();
    return answer;
  };
  const create = async (body: NewAccountBody) => {
    const made = await change(() =>
      askAsOperator<CreatedAnswer>(token, '/admin/accounts', { method: 'POST', body }),
    );
    if (made) setIssued((shown) => [made, ...shown]);
    return made !== undefined;
  };
  const update = (account: AccountSummary, body: AccountChange, undo?: AccountChange): Promise<unknown> =>
    change(() => askAsOperator(token, pathOf(account.id), { method: 'PATCH', body }), {
      text: effectOf(account.name, body),
      ...(undo && { undo: () => update(account, undo) }),
    });
  const remove = ({ id, name }: AccountSummary) =>
    change(
      () => askAsOperator(token, `${pathOf(id)}?confirm=${encodeURIComponent(id)}`, { method: 'DELETE' }),
      { text: `The account ${name} is deleted.` },
    );
  const [accounts, plans] = [loaded.data?.accounts, loadedPlans.data];
  const failed = [loaded, loadedPlans].find(({ state }) => state === 'failed');
  return (
    <section class="card" aria-labelledby="accounts-title">
      <div class="card-head">
        <h2 id="accounts-title">Accounts</h2>
        <input
          type="search"
          placeholder="Search accounts"
          aria-label="Search accounts"
          value={search}
          onInput={(event) => {
            pages.current = 1;
            setSearch(event.currentTarget.value);
          }}
        />
      </div>
      {action.error !== undefined && <Failure error={action.error} />}
      {failed && <Failure error={failed.error} onRetry={failed.reload} />}
      {plans && <NewAccount plans={plans} isBusy={action.isBusy} onCreate={create} />}
      {issued.map((one) => (
        <NewKey
          key={one.account.id}
          issued={one}
          title={`The first key of ${one.account.name}, shown only once`}
          onDone={() => setIssued((shown) => shown.filter((other) => other !== one))}
        />
      ))}
      {done && <DoneNotice text={done.text} onUndo={done.undo} />}
      {!failed && !(accounts && plans) && <Loading label="Reading the accounts" shape="table" />}
      {accounts?.length === 0 && (
        <p class="hint">
          {search === '' ? 'No accounts yet. Create the first one above.' : 'No account matches.'}
        </p>
      )}
      {accounts && plans && accounts.length > 0 && (
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
            {accounts.map((one) => (
              <AccountRow
                key={one.id}
                token={token}
                account={one}
                plans={plans}
                isOpen={opened === one.id}
                onOpen={() => setOpened(opened === one.id ? undefined : one.id)}
                onChange={(body) =>
                  update(one, body, body.plan === undefined ? undefined : { plan: one.plan })
                }
                onDelete={() => remove(one)}
              />
            ))}
          </tbody>
        </table>
      )}
      {loaded.data?.next && (
        <p>
          <button
            type="button"
            class="button"
            disabled={loaded.state === 'loading'}
            onClick={() => {
              pages.current++;
              loaded.reload();
            }}
          >
            Show more accounts
          </button>
        </p>
      )}
    </section>
  );
}

async function readPages(token: string, search: string, pages: number): Promise<AccountsPage> {
  const read = (path: string) => askAsOperator<AccountsPage>(token, path);
  let { accounts, next } = await read(`/admin/accounts?${new URLSearchParams({ search })}`);
  for (let i = 1; i < pages && next !== null; i++) {
    const page = await read(next);
    accounts = [...accounts, ...page.accounts];
    next = page.next;
  }
  return { accounts, next };
}

function effectOf(name: string, { plan, status }: AccountChange): string {
  if (plan !== undefined) return `${name} is on the plan ${plan} now.`;
  return status === 'suspended' ? `${name} is suspended.` : `${name} is active again.`;
}

function pathOf(id: string): string {
  return `/admin/accounts/${encodeURIComponent(id)}`;
}
