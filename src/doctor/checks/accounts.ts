import type { Config } from '../../config.ts';
import { readAccountFacts } from '../../ledger/inspection/account-facts.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { type Finding, ok, problem, someOf, warning } from './finding.ts';

/** Whether there are usable keys, and which accounts are locked out. */
export async function checkAccounts(ledger: Ledger, config: Config): Promise<Finding[]> {
  const now = await ledger.engine.now(ledger.engine.read);
  const facts = await readAccountFacts(ledger.engine, now);
  const { accounts, workingKeys, withoutKey, expiring, overQuota, plansUnused, plans, unsentEvents } = facts;
  const findings: Finding[] = [];
  if (workingKeys > 0)
    findings.push(ok('keys.active', `${accounts} accounts have ${workingKeys} valid keys`));
  else {
    const text = accounts === 0 ? 'there is no account yet' : 'no account has a valid key';
    const fix = 'openpit account create --name NAME --plan PLAN, or openpit key create --account ID';
    findings.push(warning('keys.active', text, fix));
  }
  if (withoutKey.count > 0 && workingKeys > 0)
    findings.push(
      warning(
        'keys.expired',
        `${withoutKey.count} active accounts have no valid key: ${someOf(withoutKey.names, withoutKey.count)}`,
        'create a key (openpit key create --account ID), or suspend or delete the account',
      ),
    );
  if (expiring.count > 0)
    findings.push(
      warning(
        'keys.expiring',
        `${expiring.count} keys expire within 14 days: ${someOf(expiring.names, expiring.count)}`,
        'rotate them in time: openpit key rotate KEY',
      ),
    );
  if (overQuota.count > 0)
    findings.push(
      warning(
        'accounts.over_quota',
        `${overQuota.count} accounts have used up this month's quota: ${someOf(overQuota.names, overQuota.count)}`,
        'move them to a larger plan; otherwise they get 429 until the month ends',
      ),
    );
  if (plansUnused.count > 0)
    findings.push(
      warning(
        'accounts.unused_plans',
        `plans without accounts: ${someOf(plansUnused.names, plansUnused.count)}`,
        'delete the plans that you do not offer: openpit plan delete NAME',
      ),
    );
  if (config.publicPlan !== undefined && !plans.includes(config.publicPlan))
    findings.push(
      problem(
        'accounts.public_plan',
        `OPENPIT_PUBLIC_PLAN is ${config.publicPlan}, but there is no such plan, so the service does not start`,
        `set it to one of ${plans.join(', ')}`,
      ),
    );
  if (unsentEvents > 0)
    findings.push(
      problem(
        'accounts.webhook',
        `the webhook has not accepted ${unsentEvents} quota events after several attempts`,
        'make sure that OPENPIT_WEBHOOK_URL responds with 2xx within 10 s; the events are retried',
      ),
    );
  return findings;
}
