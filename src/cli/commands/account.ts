import { createAccount, requireAccount, requirePlan } from '../../gate/onboarding.ts';
import type { Account } from '../../ledger/accounts/accounts.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { periodOf } from '../../ledger/quota/period.ts';
import { printDay, utcDay } from '../../market/day.ts';
import { systemClock } from '../../runtime/clock.ts';
import { plural } from '../../runtime/plural.ts';
import {
  type Command,
  type CommandCall,
  JSON_FLAG,
  plainName,
  requireYes,
  table,
  wholeFlag,
  YES_FLAG,
} from '../framework/command.ts';
import { printLine } from '../framework/print-line.ts';
import { quotaText } from './quota-text.ts';

const ACCOUNTS_SHOWN = 100;
const ACCOUNTS_MAX = 1_000_000;
/** Days of usage in `account show`. */
const DAYS_SHOWN = 31;

export const accountCommands: readonly Command[] = [
  {
    name: 'account create',
    createsLedger: 'where named',
    summary: 'Create an account and its first key, which is shown only once',
    examples: ['account create --name "My company" --plan basic'],
    flags: {
      name: { value: 'NAME', required: true, help: 'Name of the customer' },
      plan: { value: 'PLAN', required: true, help: 'Plan of the account (see openpit plan list)' },
      ...JSON_FLAG,
    },
    async run(call) {
      const [name, plan] = [plainName('--name', call.required('name')), call.required('plan')];
      await call.withLedger(async (ledger) => {
        const { account, issued } = await createAccount(ledger, { name, plan }, systemClock.now());
        if (call.isSet('json')) {
          printLine(
            JSON.stringify({ account: account.id, key: issued.text, keyId: issued.key.id, name, plan }),
          );
          return;
        }
        printLine(`Account ${account.id} (${name}) on the plan ${plan}.`);
        printLine(`Key ${issued.key.id}, shown only once: ${issued.text}`);
      });
    },
  },
  {
    name: 'account list',
    summary: 'List accounts with their usage of this month',
    flags: {
      search: { value: 'TEXT', help: 'Only accounts with this text in their id, name or plan' },
      limit: { value: 'N', help: `Maximum number of accounts (${ACCOUNTS_SHOWN}; with --json, all)` },
      ...JSON_FLAG,
    },
    async run(call) {
      const byDefault = call.isSet('json') ? ACCOUNTS_MAX : ACCOUNTS_SHOWN;
      const limit = wholeFlag(call, 'limit', 1, ACCOUNTS_MAX) ?? byDefault;
      await call.withLedger(async (ledger) => {
        const found = await ledger.accounts.list(call.flag('search') ?? '', limit + 1);
        const accounts = found.slice(0, limit);
        const rows = [];
        for (const account of accounts) rows.push({ ...account, ...(await usedThisMonth(ledger, account)) });
        if (call.isSet('json')) return printLine(JSON.stringify(rows));
        const head = ['id', 'name', 'plan', 'status', 'used', 'quota'];
        const cells = rows.map((one) => [
          one.id,
          one.name,
          one.plan,
          one.status,
          String(one.used),
          quotaText(one.quota),
        ]);
        printLine(table([head, ...cells]));
        if (found.length > limit)
          printLine(`There are more than ${plural(limit, 'account')}; see --search and --limit.`);
        printLine(
          'Counts of running servers are seconds old, with many thousands of active accounts up to five minutes. GET /usage is exact.',
        );
      });
    },
  },
  {
    name: 'account show',
    operands: ['ID'],
    summary: 'Show an account with its usage by day and endpoint, and the quota thresholds it reached',
    flags: JSON_FLAG,
    async run(call) {
      await call.withLedger(async (ledger) => {
        const account = await requireAccount(ledger, call.operands[0]!);
        const { used, quota } = await usedThisMonth(ledger, account);
        const today = utcDay(await ledger.quota.now());
        const days = await ledger.quota.usageByDay(account.id, today - DAYS_SHOWN + 1, today);
        const events = await ledger.quota.events(account.id);
        if (call.isSet('json')) {
          const daily = days.map(({ day, endpoint, count }) => ({ date: printDay(day), endpoint, count }));
          return printLine(JSON.stringify({ ...account, used, quota, daily, events }));
        }
        printLine(
          `${account.id} (${account.name}), ${account.status}, plan ${account.plan}: ${used} of ${quotaText(quota)} used`,
        );
        if (days.length > 0) {
          const cells = days.map(({ day, endpoint, count }) => [printDay(day), endpoint, String(count)]);
          printLine(table([['day', 'endpoint', 'requests'], ...cells]));
        }
        for (const { percent, at } of events)
          printLine(`  ${percent} % reached at ${new Date(at).toISOString()}`);
      });
    },
  },
  change('account suspend', 'Suspend an account: all its keys are refused', () => ({ status: 'suspended' })),
  change('account resume', 'Reactivate a suspended account', () => ({ status: 'active' })),
  {
    ...change('account set-plan', 'Move an account to another plan', ({ required }) => ({
      plan: required('plan'),
    })),
    flags: {
      plan: { value: 'PLAN', required: true, help: 'The new plan (see openpit plan list)' },
      ...JSON_FLAG,
    },
  },
  {
    name: 'account delete',
    operands: ['ID'],
    summary: 'Permanently delete an account with its keys and its usage',
    flags: YES_FLAG,
    async run(call) {
      const id = call.operands[0]!;
      await call.withLedger(async (ledger) => {
        const { name } = await requireAccount(ledger, id);
        const keys = await ledger.keys.of(id);
        const what = `${id} (${name}) with ${plural(keys.length, 'key')} and all its usage`;
        requireYes(call, what);
        await ledger.accounts.delete(id);
        printLine(`Deleted ${what}. Its keys will be refused within a second.`);
      });
    },
  },
];

/** A command that changes an account. Every replica applies the change within a second. */
function change(
  name: string,
  summary: string,
  to: (call: CommandCall) => Partial<Pick<Account, 'plan' | 'status'>>,
): Command {
  return {
    name,
    operands: ['ID'],
    summary,
    flags: JSON_FLAG,
    async run(call) {
      const wanted = to(call);
      await call.withLedger(async (ledger) => {
        const before = await requireAccount(ledger, call.operands[0]!);
        if (wanted.plan !== undefined) await requirePlan(ledger, wanted.plan);
        await ledger.accounts.update(before.id, wanted);
        const account = { ...before, ...wanted };
        if (call.isSet('json')) return printLine(JSON.stringify(account));
        printLine(
          `Account ${account.id} (${account.name}) is ${account.status}, on the plan ${account.plan}.`,
        );
      });
    },
  };
}

/** What is in the ledger; a running server reports its counts every few seconds. */
async function usedThisMonth(ledger: Ledger, { id }: Account): Promise<{ used: number; quota: number }> {
  const { used, quota } = await ledger.quota.usage(id, periodOf(await ledger.quota.now()));
  return { used, quota };
}
