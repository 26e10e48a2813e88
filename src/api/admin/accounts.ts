import { createAccount } from '../../gate/onboarding.ts';
import type { Account } from '../../ledger/accounts/accounts.ts';
import { UnknownPlan } from '../../ledger/accounts/plans.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { periodOf } from '../../ledger/quota/period.ts';
import { isPlainText } from '../../runtime/plain-text.ts';
import { dailyUsage } from '../endpoints/account/daily-usage.ts';
import { refuse } from '../errors/errors.ts';
import { issuedKey, listedKeys } from '../keys/key-records.ts';
import type { AdminEndpoint } from '../model/endpoint.ts';
import { single, singleUnlessEmpty } from '../params/parameters.ts';
import { adminEndpoint } from './admin-endpoint.ts';
import { ACCOUNT_CHANGE, NEW_ACCOUNT } from './bodies.ts';
import { requireConfirmation } from './preconditions.ts';
import { limitOf, pageOf } from './service/paging.ts';

const ACCOUNTS_DEFAULT = 200;
const ACCOUNTS_MAX = 1_000;

/** /admin/accounts: lists, creates, changes and deletes accounts. */
export const adminAccounts: readonly AdminEndpoint[] = [
  adminEndpoint('/admin/accounts', {
    async GET({ query, ledger }) {
      const limit = limitOf(query, ACCOUNTS_DEFAULT, ACCOUNTS_MAX);
      const search = single(query, 'search') ?? '';
      const afterId = singleUnlessEmpty(query, 'after');
      const after = afterId === undefined ? undefined : await requireAccount(ledger, afterId);
      const found = isPlainText(search) ? await ledger.accounts.list(search, limit + 1, after) : [];
      const { page, next } = pageOf(found, limit, '/admin/accounts', ({ id }) => ({
        after: id,
        ...(search !== '' && { search }),
      }));
      const period = periodOf(await ledger.quota.now());
      const usages = await ledger.quota.usages(
        page.map(({ id }) => id),
        period,
      );
      const accounts = page.map((account) => {
        const { used = 0, quota = 0 } = usages.get(account.id) ?? {}; // it may have been deleted meanwhile
        return { ...record(account), used, quota };
      });
      return { success: true, accounts, next };
    },
    async POST({ ledger, now, body }) {
      const input = await body(NEW_ACCOUNT);
      const creating = createAccount(ledger, input, now);
      const { account, issued } = await withPlan(input.plan, creating);
      return { ...issuedKey(issued, now), account: record(account) };
    },
  }),
  adminEndpoint('/admin/accounts/:id', {
    async GET({ id, ledger, now }) {
      const account = await requireAccount(ledger, id);
      const { used, quota } = await ledger.quota.usage(id, periodOf(await ledger.quota.now()));
      return {
        success: true,
        account: { ...record(account), used, quota },
        keys: listedKeys(await ledger.keys.of(id), await ledger.keyUses.lastUses(id), now),
        ...(await dailyUsage(ledger, id, now)),
      };
    },
    async PATCH({ id, ledger, body }) {
      const { plan, status } = await body(ACCOUNT_CHANGE);
      await requireAccount(ledger, id);
      const change = { ...(plan !== undefined && { plan }), ...(status !== undefined && { status }) };
      await withPlan(plan, ledger.accounts.update(id, change));
      return { success: true, account: record(await requireAccount(ledger, id)) };
    },
    async DELETE({ id, query, ledger }) {
      await requireAccount(ledger, id);
      requireConfirmation(query, id, 'its keys and its usage');
      await ledger.accounts.delete(id);
      return { success: true, id, deleted: true };
    },
  }),
];

export async function requireAccount(ledger: Ledger, id: string): Promise<Account> {
  const account = await ledger.accounts.find(id);
  if (!account) throw refuse('not_there', { what: 'account', id: id.slice(0, 64) });
  return account;
}

function record({ id, name, plan, status, createdAt }: Account) {
  return { id, name, plan, status, createdAt: Math.floor(createdAt / 1000) };
}

/** Awaits a change that assigns a plan. Refused if the plan does not exist, or was deleted in the meantime. */
async function withPlan<T>(plan: string | undefined, changing: Promise<T>): Promise<T> {
  try {
    return await changing;
  } catch (error) {
    throw error instanceof UnknownPlan ? refuse('not_there', { what: 'plan', id: plan ?? '' }) : error;
  }
}
