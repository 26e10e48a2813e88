import { z } from 'zod';

/** What the schemas of answers are made of. */

export const day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/)
  .describe('A day, YYYY-MM-DD');
export const text = z.string().min(1);
export const success = z.literal(true);
export const licence = z.enum(['yes', 'attribution', 'no']).describe('Whether its prices may be passed on');
