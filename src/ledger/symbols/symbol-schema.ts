import { z } from 'zod';
import { MARKETS } from '../../market/session.ts';
import { CODE_PATTERN } from '../../market/symbol.ts';
import { isPlainText, NOT_PLAIN } from '../../runtime/plain-text.ts';

const text = z.string().refine(isPlainText, NOT_PLAIN).trim().min(1).max(200);
const code = text.regex(CODE_PATTERN, 'must be at most 32 capital letters, digits, dots and dashes');

/** A symbol as an operator defines it, besides its code. */
export const SYMBOL_FIELDS = z.strictObject({
  name: text,
  category: text,
  currency: z.strictObject({ code: text, name: text, symbol: text }),
  unit: z.strictObject({ symbol: text, name: text }),
  market: z.enum(Object.keys(MARKETS) as [string, ...string[]]),
  decimals: z.int().min(0).max(12),
  status: z.enum(['active', 'deprecated']).default('active'),
  updateInterval: z.enum(['minute', 'day', 'week', 'month']),
  aliases: z.array(code).max(50).optional(),
});

/** The format of `symbols list --json`. */
export const SYMBOL_FILE = z.array(SYMBOL_FIELDS.extend({ code }));
