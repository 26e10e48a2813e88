import { z } from 'zod';

/** Parts shared by the response schemas. */

export const day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/)
  .describe('A day, YYYY-MM-DD');
export const dayOrTime = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d{3})?Z)?$/)
  .describe('A day, YYYY-MM-DD; a UTC time for intervals shorter than a day');
export const text = z.string().min(1);
export const success = z.literal(true);

const licence = z.enum(['yes', 'attribution', 'no']).describe('Whether its prices may be redistributed');

/** Fields of a feed shared by /feeds and /admin/feeds. */
export const feedBasics = {
  key: text,
  title: text,
  licence,
  attribution: text,
  licenceUrl: text,
  enabled: z.boolean(),
};
export const ages = {
  newestDataAgeSeconds: z
    .int()
    .nullable()
    .describe('Age of the newest price: since the time of a tick, or the end of a bar’s session'),
  newestWriteAgeSeconds: z.int().nullable().describe('Time since a price was last written, for any day'),
};
export const feedCoverage = {
  rows: z.int(),
  gaps: z.int(),
  firstDate: day.nullable(),
  lastDate: day.nullable(),
};
