import { z } from 'zod';
import type { MonthlyUsage } from '../../client/answers.ts';
import { tool } from '../tool.ts';

/** The largest quota means unlimited. */
const UNLIMITED = 999_999_999_999_999;

export const usage = tool({
  name: 'usage',
  title: 'Usage and quota',
  description: 'The plan of the API key, how many units it has used this month, and how many are left. Free.',
  input: z.object({}),
  async answer(_, ask) {
    const { plan, quota, used, remaining, resetAt } = await ask<MonthlyUsage>('/usage');
    if (quota >= UNLIMITED) {
      return { text: `Plan ${plan}: ${used} units used this month; there is no limit.` };
    }
    const reset = new Date(resetAt * 1000).toISOString().slice(0, 10);
    return {
      text: `Plan ${plan}: ${used} of ${quota} units used this month, ${remaining} left until ${reset}.`,
    };
  },
});
