/** Feeds, health and errors. */

import { z } from 'zod';
import { ERROR_STATUSES } from '../../errors/errors.ts';
import { FAMILY_CODES } from '../../versions/dialects.ts';
import { ages, feedBasics, feedCoverage, later, ok, seconds, text } from './parts.ts';

const error = z.strictObject({
  success: z.literal(false),
  message: text.describe('What is wrong, what was received, and how to fix it'),
  statusCode: z.string().regex(/^[45]\d\d$/),
  code: z.enum(ERROR_STATUSES.map(({ code }) => code)),
  resetAt: seconds.optional().describe('With `quota_exhausted`: when the quota resets'),
  length: z.int().optional().describe('With `invalid_byte_range`: the length of the file in bytes'),
  error: z.enum(FAMILY_CODES).optional().describe(later),
  path: text.optional().describe(`${later}: the path of the request`),
  timestamp: seconds.optional().describe(`${later}: the time of the response`),
});

export const SERVICE_SCHEMAS = {
  Feeds: z.strictObject({
    ...ok,
    feeds: z.array(
      z.strictObject({
        ...feedBasics,
        late: z.boolean(),
        schedule: text,
        zone: text,
        symbols: z.int().describe('Number of symbols it provides'),
        lastRun: z.strictObject({ at: text, status: text }).nullable(),
        lastOkAt: text.nullable(),
        nextRunAt: text.nullable(),
        failing: z
          .array(z.strictObject({ symbol: text, since: text }))
          .describe('Symbols whose series fails while others of the feed succeed'),
        ...feedCoverage,
      }),
    ),
  }),
  Live: z.strictObject({ status: z.literal('live') }),
  Health: z.strictObject({
    status: z.enum(['starting', 'ready', 'unavailable', 'draining']),
    ready: z.boolean(),
    version: text,
    revision: z.int(),
    ...ages,
    simulated: z.boolean(),
    alarms: z.array(text).describe('Names of the active alarms, such as `ledger.unreachable`'),
    lateFeeds: z.array(text).describe('Feeds that have missed their schedule twice'),
    partialFeeds: z.array(text).describe('Feeds that have failing series'),
    diskFull: z.boolean().describe('Whether the disk is too full to accept prices'),
  }),
  Error: error,
  UsageError: z
    .union([z.strictObject({ success: z.literal(false), error: text }), error])
    .describe(`${later}, the errors of /usage are like all others`),
} as const satisfies Record<string, z.ZodType>;
