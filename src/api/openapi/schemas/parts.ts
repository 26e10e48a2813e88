/** Parts shared by the response schemas. */

import { z } from 'zod';

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

export const code = z.string().regex(/^[A-Z0-9._{}()*/+-]+$/);

export const seconds = z.int().describe('Seconds since 1970-01-01 UTC');

/** Members that every successful response has. */
export const ok = {
  success,
  warnings: z
    .array(text)
    .optional()
    .describe(
      'Warnings: a parameter without effect, a symbol without prices in the range, or simulated prices that are hidden',
    ),
};

export const later = 'In v2 and v3';

export const status = z.enum(['active', 'suspended']);

export const unresolved = z
  .record(text, z.strictObject({ message: text }))
  .optional()
  .describe('Only in v3, with status 206: the unknown symbols of a request that names others as well');
