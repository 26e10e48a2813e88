import { BUILT_IN_PLANS } from './built-in-plans.ts';
import type { Plan } from './plans.ts';

/** Lower-case letters, digits, - and _; at most 32 characters. */
export const PLAN_NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;

/** A new plan. Its limits default to those of `basic`. */
export function defaultPlan(name: string): Plan {
  return { ...BUILT_IN_PLANS.find((plan) => plan.name === 'basic')!, name };
}
