import { PLAN_CHANGE } from '../bodies.ts';
import type { AdminEndpoint } from '../endpoint.ts';
import { refuse } from '../errors.ts';

/** What a new plan has where the operator does not say. */
const DEFAULTS = { quota: 10_000, delaySeconds: 600, maxSymbols: 20, maxSpanDays: 30, burstPerSecond: 20 };

const NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;

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
        const before = (await ledger.accounts.plans()).find((plan) => plan.name === name);
        if (!before && !NAME.test(name)) {
          const problem = 'the name of a plan has small letters, digits, - and _, at most 32';
          throw refuse('invalid_body', { problems: [problem] });
        }
        const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
        const plan = { ...DEFAULTS, ...before, ...given, name };
        await ledger.accounts.setPlan(plan);
        return { success: true, plan };
      },
      async DELETE({ id: name, ledger }) {
        const outcome = await ledger.accounts.deletePlan(name);
        if (outcome === false) throw refuse('not_there', { what: 'plan', id: name.slice(0, 64) });
        if (outcome !== true)
          throw refuse('conflict', { why: `${outcome} accounts have the plan; move them first` });
        return { success: true, name, deleted: true };
      },
    },
  },
];
