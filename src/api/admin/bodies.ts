import { z } from 'zod';
import { isAddressOrRange } from '../../gate/addresses.ts';
import { QUOTA_MAX } from '../../ledger/accounts/accounts.ts';
import { isPlainText, NOT_PLAIN } from '../model/query.ts';

/** The bodies that management takes. The OpenAPI document describes them from here. */

const whole = (min: number, max: number) => z.int().min(min).max(max);

/** A year and a day: a longer overlap is no rotation. */
const OVERLAP_SECONDS_MAX = 366 * 86_400;

const allowedIps = z
  .array(z.string().max(64).refine(isAddressOrRange, 'must be an address or a range such as 10.0.0.0/8'))
  .max(50);

export const NEW_KEY = z.strictObject({
  /** Seconds since the epoch, as everywhere in this interface. */
  expiresAt: whole(0, 4_102_444_800).optional(),
  allowedIps: allowedIps.optional(),
  headerOnly: z.boolean().optional(),
});

export const ROTATION = z.strictObject({
  /** A day: long enough to change a key in every program that uses it. */
  overlapSeconds: whole(0, OVERLAP_SECONDS_MAX).default(86_400),
});

const oneLine = z.string().refine(isPlainText, NOT_PLAIN);

export const NEW_ACCOUNT = z.strictObject({
  name: oneLine.trim().min(1).max(200),
  plan: z.string().min(1).max(64),
});

export const ACCOUNT_CHANGE = z.strictObject({
  plan: z.string().min(1).max(64).optional(),
  status: z.enum(['active', 'suspended']).optional(),
});

export const FEED_CHANGE = z.strictObject({ enabled: z.boolean() });

export const PLAN_CHANGE = z.strictObject({
  quota: whole(0, QUOTA_MAX).optional(),
  delaySeconds: whole(0, 86_400).optional(),
  maxSymbols: whole(1, 100_000).optional(),
  maxSpanDays: whole(0, 100_000).optional(),
  burstPerSecond: whole(1, 1_000_000).optional(),
  history: z.boolean().optional(),
});
