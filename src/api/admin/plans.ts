import { defaultPlan, PLAN_NAME } from '../../ledger/accounts/default-plan.ts';
import { refuse } from '../errors/errors.ts';
import type { AdminEndpoint } from '../model/endpoint.ts';
import { adminEndpoint } from './admin-endpoint.ts';
import { PLAN_CHANGE } from './bodies.ts';
import { define } from './preconditions.ts';

/** /admin/plans: lists, creates, changes and deletes plans. */
export const adminPlans: readonly AdminEndpoint[] = [
  adminEndpoint('/admin/plans', {
    async GET({ ledger }) {
      return { success: true, plans: await ledger.plans.list() };
    },
  }),
  adminEndpoint('/admin/plans/:id', {
    /** Creates a plan, or changes the given fields of an existing one. With `If-None-Match: *`, only creates. */
    async PUT(call) {
      const { id: name, ledger, body } = call;
      const change = await body(PLAN_CHANGE);
      const exists = (await ledger.plans.list()).some((plan) => plan.name === name);
      if (!exists && !PLAN_NAME.test(name)) {
        const problem = 'a plan name has at most 32 characters: lowercase letters, digits, - and _';
        throw refuse('invalid_body', { problems: [problem] });
      }
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
      const plan = await define(call, 'plan', (options) =>
        ledger.plans.change(defaultPlan(name), given, options),
      );
      return { success: true, plan };
    },
    async DELETE({ id: name, ledger }) {
      const outcome = await ledger.plans.delete(name);
      if (outcome === 'unknown') throw refuse('not_there', { what: 'plan', id: name.slice(0, 64) });
      if (outcome !== 'deleted') {
        const { accounts } = outcome;
        const users = accounts === 1 ? '1 account has' : `${accounts} accounts have`;
        throw refuse('conflict', { why: `${users} this plan; move them to another plan first` });
      }
      return { success: true, name, deleted: true };
    },
  }),
];
