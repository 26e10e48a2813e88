/** Request bodies for operators. The OpenAPI document is generated from these schemas. */

import { z } from 'zod';
import { PLAN_LIMITS, QUOTA_MAX } from '../../ledger/accounts/plans.ts';
import { NO_MEASURE } from '../../ledger/symbols/formulas.ts';
import { SYMBOL_FILE } from '../../ledger/symbols/symbol-schema.ts';
import { FORMULA_LENGTH_MAX } from '../../market/formula/parse.ts';
import { isPlainText, NOT_PLAIN } from '../../runtime/plain-text.ts';

const whole = (min: number, max: number) => z.int().min(min).max(max);
const measure = z.string().refine(isPlainText, NOT_PLAIN).trim().min(1).max(32);
const planName = z.string().min(1).max(64);

export const NEW_ACCOUNT = z.strictObject({
  name: z.string().refine(isPlainText, NOT_PLAIN).trim().min(1).max(200),
  plan: planName,
});

export const ACCOUNT_CHANGE = z.strictObject({
  plan: planName.optional(),
  status: z.enum(['active', 'suspended']).optional(),
});

export const FEED_CHANGE = z.strictObject({ enabled: z.boolean() });

export const FEED_ADDRESSES = z.strictObject({
  addresses: z
    .record(z.string(), z.string().min(1).max(2_000).refine(isPlainText, NOT_PLAIN))
    .describe('By name. Those that are left out become the provider’s own'),
});

export const SYMBOL_LIST = z.strictObject({
  symbols: SYMBOL_FILE.min(1)
    .max(10_000)
    .refine((list) => new Set(list.map(({ code }) => code)).size === list.length, 'must name each code once'),
});

export const FORMULA_DEFINITION = z.strictObject({
  expression: z
    .string()
    .min(1)
    .max(FORMULA_LENGTH_MAX)
    .describe('Over symbols in braces: `{BRENTOIL-FUT}-{WTIOIL-FUT}`'),
  name: z.string().refine(isPlainText, NOT_PLAIN).trim().min(1).max(200),
  unit: measure.default(NO_MEASURE).describe('What a value is quoted for; `none` for a ratio'),
  currency: measure.default(NO_MEASURE).describe('What a value is quoted in; `none` for a ratio'),
});

export const PLAN_CHANGE = z.strictObject({
  quota: whole(0, QUOTA_MAX).optional(),
  delaySeconds: whole(0, PLAN_LIMITS.delaySeconds).optional(),
  maxSymbols: whole(1, PLAN_LIMITS.maxSymbols).optional(),
  maxSpanDays: whole(0, PLAN_LIMITS.maxSpanDays)
    .nullable()
    .optional()
    .describe('null: the limit of the interface version'),
  burstPerSecond: whole(1, PLAN_LIMITS.burstPerSecond).optional(),
  history: z.boolean().optional(),
});
