import { z } from 'zod';
import { isAddressOrRange } from '../../gate/addresses.ts';

/** Bodies for managing keys, used by account owners and by operators. */

/** A year and a day. A longer overlap defeats the purpose of a rotation. */
const OVERLAP_SECONDS_MAX = 366 * 86_400;

const allowedIps = z
  .array(z.string().max(64).refine(isAddressOrRange, 'must be an address or a range such as 10.0.0.0/8'))
  .max(50);

export const NEW_KEY = z.strictObject({
  /** Seconds since 1970, as in all other fields. */
  expiresAt: z.int().min(0).max(4_102_444_800).optional(),
  allowedIps: allowedIps.optional(),
  headerOnly: z.boolean().optional(),
});

export const ROTATION = z.strictObject({
  /** Defaults to a day: time to replace the key in every program that uses it. */
  overlapSeconds: z.int().min(0).max(OVERLAP_SECONDS_MAX).default(86_400),
});
