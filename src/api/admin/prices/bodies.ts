/** Request bodies about prices, for operators. */

import { z } from 'zod';
import { REASON_MAX } from '../../../ledger/corrections/withdrawals.ts';
import { isPlainText, NOT_PLAIN } from '../../../runtime/plain-text.ts';
import { PUSHED_PRICE } from '../push/push-schema.ts';

const symbol = z.string().trim().min(1).max(32);
const reason = z
  .string()
  .refine(isPlainText, NOT_PLAIN)
  .trim()
  .min(1)
  .max(REASON_MAX)
  .describe('Shown by /rates/revisions and in the audit log');

/** One day, or the first and last day of a range. */
export const BAR_DAYS = z.strictObject({
  symbol,
  startDate: z.iso.date(),
  endDate: z.iso.date().optional().describe('Defaults to `startDate`'),
  reason,
});

/** A revert of any change of these days, or of those that were recorded at one moment. */
export const BAR_REVERT = BAR_DAYS.extend({
  recordedAt: z.iso
    .datetime()
    .optional()
    .describe('Only changes that were recorded then, as the response to a withdrawal or a correction says'),
});

export const BAR_CORRECTION = z.strictObject({
  symbol,
  date: z.iso.date(),
  open: PUSHED_PRICE,
  high: PUSHED_PRICE,
  low: PUSHED_PRICE,
  close: PUSHED_PRICE,
  reason,
});

export const FEED_RUN_REQUEST = z.strictObject({
  accept: z
    .boolean()
    .default(false)
    .describe('Publish what would be held back because it looks wrong, has shrunk, or withdraws many prices'),
});
