import type { Plan } from './accounts.ts';
import { BUILT_IN_PLANS } from './built-in-plans.ts';

/** Small letters, digits, - and _, at most 32. */
export const PLAN_NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;

/** A new plan is as `basic` is, until it is told otherwise. */
export function defaultPlan(name: string): Plan {
  return { ...BUILT_IN_PLANS.find((plan) => plan.name === 'basic')!, name };
}
