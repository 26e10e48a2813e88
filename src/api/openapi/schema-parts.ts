import { z } from 'zod';

/** What the schemas of answers are made of. */

export const day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/)
  .describe('A day, YYYY-MM-DD');
export const text = z.string().min(1);
export const success = z.literal(true);

const licence = z.enum(['yes', 'attribution', 'no']).describe('Whether its prices may be passed on');

/** What everybody is told of a feed, and the operator too. */
export const feedBasics = {
  key: text,
  title: text,
  licence,
  attribution: text,
  licenceUrl: text,
  enabled: z.boolean(),
};
export const feedCoverage = {
  rows: z.int(),
  gaps: z.int(),
  firstDate: day.nullable(),
  lastDate: day.nullable(),
};
