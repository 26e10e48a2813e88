import { defaultPlan, PLAN_NAME } from '../../ledger/accounts/default-plan.ts';
import { PLAN_LIMITS, type Plan, QUOTA_MAX } from '../../ledger/accounts/plans.ts';
import { plural } from '../../runtime/plural.ts';
import {
  type Command,
  type CommandCall,
  JSON_FLAG,
  table,
  UsageError,
  wholeFlag,
} from '../framework/command.ts';
import { printLine } from '../framework/print-line.ts';
import { quotaText } from './quota-text.ts';

export const planCommands: readonly Command[] = [
  {
    name: 'plan list',
    summary: 'List the plans',
    flags: JSON_FLAG,
    async run({ withLedger, isSet }) {
      await withLedger(async (ledger) => {
        const plans = await ledger.plans.list();
        if (isSet('json')) return printLine(JSON.stringify(plans));
        const head = ['name', 'quota per month', 'delay s', 'symbols', 'span days', 'per second', 'history'];
        printLine(
          table([
            head,
            ...plans.map((plan) => Object.values({ ...plan, quota: quotaText(plan.quota) }).map(cell)),
          ]),
        );
      });
    },
  },
  {
    name: 'plan set',
    createsLedger: 'where named',
    operands: ['NAME'],
    summary: 'Create or change a plan',
    details:
      'Omitted options of a new plan default to those of the plan basic; those of an existing plan stay as they are.',
    examples: ['plan set gold --quota 1000000 --burst 50'],
    flags: {
      quota: { value: 'N', help: `Requests per month; ${QUOTA_MAX} is unlimited` },
      'delay-seconds': { value: 'N', help: 'Minimum age of the prices it sees' },
      'max-symbols': { value: 'N', help: 'Maximum number of symbols per request' },
      'max-span-days': {
        value: 'N|version',
        help: 'Maximum days between startDate and endDate of a time series, for all versions of the interface; version: 30 in v1, 365 in v2 and v3',
      },
      burst: { value: 'N', help: 'Maximum requests per second' },
      history: { value: 'on|off', help: 'Access to /rates/history' },
      ...JSON_FLAG,
    },
    async run(call) {
      const name = call.operands[0]!;
      if (!PLAN_NAME.test(name)) {
        throw new UsageError(
          `the name of a plan must be at most 32 lower-case letters, digits, - and _ (received "${name}")`,
        );
      }
      const given = {
        quota: wholeFlag(call, 'quota', 0, QUOTA_MAX),
        delaySeconds: wholeFlag(call, 'delay-seconds', 0, PLAN_LIMITS.delaySeconds),
        maxSymbols: wholeFlag(call, 'max-symbols', 1, PLAN_LIMITS.maxSymbols),
        maxSpanDays: spanDays(call),
        burstPerSecond: wholeFlag(call, 'burst', 1, PLAN_LIMITS.burstPerSecond),
        history: onOff(call, 'history'),
      };
      const plan = await call.withLedger((ledger) =>
        ledger.plans.change(defaultPlan(name), withoutUndefined(given)),
      );
      if (call.isSet('json')) return printLine(JSON.stringify(plan));
      const quota = plan.quota >= QUOTA_MAX ? 'unlimited requests' : plural(plan.quota, 'request');
      printLine(
        `Plan ${plan.name}: ${quota} per month, ${plan.delaySeconds} s delay, ${plural(plan.maxSymbols, 'symbol')} per request, time series of ${spanText(plan)}, ${plural(plan.burstPerSecond, 'request')} per second, long history ${cell(plan.history)}.`,
      );
    },
  },
  {
    name: 'plan delete',
    operands: ['NAME'],
    summary: 'Delete a plan that no account uses',
    flags: JSON_FLAG,
    async run({ withLedger, operands, isSet }) {
      const name = operands[0]!;
      const outcome = await withLedger((ledger) => ledger.plans.delete(name));
      if (outcome === 'unknown') throw new Error(`there is no plan "${name}"; openpit plan list lists them`);
      if (outcome !== 'deleted') {
        const { accounts } = outcome;
        const [users, them] =
          accounts === 1 ? ['1 account uses', 'it'] : [`${accounts} accounts use`, 'them'];
        throw new Error(
          `${users} the plan "${name}"; move ${them} first: openpit account set-plan ID --plan OTHER`,
        );
      }
      printLine(isSet('json') ? JSON.stringify({ plan: name, deleted: true }) : `Plan ${name} is deleted.`);
    },
  },
];

/** Null for `version`. */
function spanDays(call: CommandCall): number | null | undefined {
  if (call.flag('max-span-days') === 'version') return null;
  return wholeFlag(call, 'max-span-days', 0, PLAN_LIMITS.maxSpanDays, 'version or ');
}

function spanText({ maxSpanDays }: Plan): string {
  return maxSpanDays === null
    ? 'at most 30 days (365 under /v2 and /v3)'
    : `at most ${plural(maxSpanDays, 'day')}`;
}

function onOff(call: CommandCall, name: string): boolean | undefined {
  const text = call.flag(name);
  if (text === undefined) return undefined;
  if (text !== 'on' && text !== 'off')
    throw new UsageError(`--${name} must be on or off (received "${text}")`);
  return text === 'on';
}

function cell(value: string | number | boolean | null): string {
  if (value === null) return 'by version';
  if (typeof value !== 'boolean') return String(value);
  return value ? 'on' : 'off';
}

function withoutUndefined(
  given: Partial<Record<keyof Plan, number | boolean | null | undefined>>,
): Partial<Plan> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
