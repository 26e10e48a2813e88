import type { Config } from '../../config.ts';
import { type AccountFacts, readAccountFacts } from '../../ledger/inspection/account-facts.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { plural } from '../../runtime/plural.ts';
import { type Finding, ok, problem, someOf, warning } from './finding.ts';

/** Whether there are usable keys, and which accounts are locked out. */
export async function checkAccounts(ledger: Ledger, config: Config): Promise<Finding[]> {
  const now = await ledger.engine.now(ledger.engine.read);
  const facts = await readAccountFacts(ledger.engine, now);
  const findings = [
    checkActiveKeys(facts),
    checkMissingKeys(facts),
    checkExpiringKeys(facts),
    checkQuotas(facts),
    checkUnusedPlans(facts),
    checkPublicPlan(facts, config),
    checkWebhook(facts),
  ];
  return findings.filter((finding) => finding !== undefined);
}

function checkActiveKeys({ accounts, workingKeys }: AccountFacts): Finding {
  if (workingKeys > 0)
    return ok('keys.active', `${plural(workingKeys, 'valid key')} of ${plural(accounts, 'account')}`);
  const text = accounts === 0 ? 'there is no account yet' : 'no account has a valid key';
  const fix = 'openpit account create --name NAME --plan PLAN, or openpit key create --account ID';
  return warning('keys.active', text, fix);
}

function checkMissingKeys({ withoutKey, workingKeys }: AccountFacts): Finding | undefined {
  if (withoutKey.count === 0 || workingKeys === 0) return undefined;
  return warning(
    'keys.expired',
    `${plural(withoutKey.count, 'active account')} without a valid key: ${someOf(withoutKey.names, withoutKey.count)}`,
    'create a key (openpit key create --account ID), or suspend or delete the account',
  );
}

function checkExpiringKeys({ expiring }: AccountFacts): Finding | undefined {
  if (expiring.count === 0) return undefined;
  return warning(
    'keys.expiring',
    `${plural(expiring.count, 'key')} expiring within 14 days: ${someOf(expiring.names, expiring.count)}`,
    'rotate them in time: openpit key rotate KEY',
  );
}

function checkQuotas({ overQuota }: AccountFacts): Finding | undefined {
  if (overQuota.count === 0) return undefined;
  return warning(
    'accounts.over_quota',
    `${plural(overQuota.count, 'account')} over this month's quota: ${someOf(overQuota.names, overQuota.count)}`,
    'move them to a larger plan; otherwise they get 429 until the month ends',
  );
}

function checkUnusedPlans({ plansUnused }: AccountFacts): Finding | undefined {
  if (plansUnused.count === 0) return undefined;
  return warning(
    'accounts.unused_plans',
    `plans without accounts: ${someOf(plansUnused.names, plansUnused.count)}`,
    'delete the plans that you do not offer: openpit plan delete NAME',
  );
}

function checkPublicPlan({ plans }: AccountFacts, { publicPlan }: Config): Finding | undefined {
  if (publicPlan === undefined || plans.includes(publicPlan)) return undefined;
  return problem(
    'accounts.public_plan',
    `OPENPIT_PUBLIC_PLAN is ${publicPlan}, but there is no such plan, so the service does not start`,
    `set it to one of ${plans.join(', ')}`,
  );
}

function checkWebhook({ unsentEvents }: AccountFacts): Finding | undefined {
  if (unsentEvents === 0) return undefined;
  return problem(
    'accounts.webhook',
    `the webhook has not accepted ${plural(unsentEvents, 'quota event')} after several attempts`,
    'make sure that OPENPIT_WEBHOOK_URL responds with 2xx within 10 s; the events are retried',
  );
}
