/** Schemas of pushed records. Records are validated one by one, and the OpenAPI document is generated from these. */

import { z } from 'zod';
import { parseNumber, roundPrice } from '../../../market/decimal.ts';
import { isPlainText, NOT_PLAIN } from '../../../runtime/plain-text.ts';

const NOT_A_PRICE = 'must be a number';

export const PUSHED_PRICE = z
  .union([z.number(), z.string()], NOT_A_PRICE)
  .describe('A number, or a string with its decimal digits')
  .transform((value, context) => {
    const number = typeof value === 'number' ? value + 0 : parseNumber(value.trim());
    const rounded = number === undefined || !Number.isFinite(number) ? Number.NaN : roundPrice(number);
    if (Number.isFinite(rounded)) return rounded;
    context.addIssue(NOT_A_PRICE);
    return z.NEVER;
  });

const symbol = z.string().trim().toUpperCase().min(1).max(64);

export const NOT_A_TIME =
  'must be a time such as 2026-07-15T14:00:00Z, or seconds or milliseconds since 1970';

export const PUSHED_TICK = z.object({
  symbol,
  price: PUSHED_PRICE,
  at: z
    .union([z.string(), z.number()], NOT_A_TIME)
    .describe('An ISO time with its zone, or seconds or milliseconds since 1970'),
  id: z
    .union([z.string(), z.int()], 'must be a text or a whole number')
    .transform(String)
    .pipe(z.string().min(1).max(100))
    .refine(isPlainText, NOT_PLAIN)
    .optional(),
});

export const PUSHED_BAR = z.object({
  symbol,
  date: z.string().describe('YYYY-MM-DD'),
  open: PUSHED_PRICE.optional(),
  high: PUSHED_PRICE.optional(),
  low: PUSHED_PRICE.optional(),
  close: PUSHED_PRICE.optional(),
  price: PUSHED_PRICE.optional().describe('Replaces open, high, low and close'),
});

export const PUSH_ENVELOPE = z.object({
  source: z.string().trim().optional(),
  accept: z.boolean().optional(),
});

export const PUSHED_TICKS = z.union([
  PUSH_ENVELOPE.extend({ ticks: z.array(PUSHED_TICK) }),
  z.array(PUSHED_TICK),
]);

export const PUSHED_BARS = z.union([
  PUSH_ENVELOPE.extend({ bars: z.array(PUSHED_BAR) }),
  z.array(PUSHED_BAR),
]);
