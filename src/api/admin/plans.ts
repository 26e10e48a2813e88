import { newPlan, PLAN_NAME } from '../../ledger/accounts/default-plan.ts';
import { refuse } from '../errors/errors.ts';
import type { AdminEndpoint } from '../model/endpoint.ts';
import { PLAN_CHANGE } from './bodies.ts';

export const adminPlans: readonly AdminEndpoint[] = [
  {
    kind: 'admin',
    name: 'admin',
    path: '/admin/plans',
    actions: {
      async GET({ ledger }) {
        return { success: true, plans: await ledger.accounts.plans() };
      },
    },
  },
  {
    kind: 'admin',
    name: 'admin',
    path: '/admin/plans/:id',
    actions: {
      /** Creates a plan, or changes what is given of one. */
      async PUT({ id: name, ledger, body }) {
        const change = await body(PLAN_CHANGE);
        const isKnown = (await ledger.accounts.plans()).some((plan) => plan.name === name);
        if (!isKnown && !PLAN_NAME.test(name)) {
          const problem = 'the name of a plan has small letters, digits, - and _, at most 32';
          throw refuse('invalid_body', { problems: [problem] });
        }
        const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
        const plan = await ledger.accounts.changePlan(newPlan(name), given);
        return { success: true, plan };
      },
      async DELETE({ id: name, ledger }) {
        const outcome = await ledger.accounts.deletePlan(name);
        if (outcome === false) throw refuse('not_there', { what: 'plan', id: name.slice(0, 64) });
        if (outcome !== true) {
          const who = outcome === 1 ? '1 account has' : `${outcome} accounts have`;
          throw refuse('conflict', { why: `${who} the plan; put them on another first` });
        }
        return { success: true, name, deleted: true };
      },
    },
  },
];
