/** Bodies for managing keys, used by account owners and by operators. */

import { z } from 'zod';
import { isAddressOrRange, RANGES_MAX } from '../../gate/addresses.ts';
import { KEY_NAME_MAX } from '../../ledger/accounts/keys.ts';
import { isPlainText, NOT_PLAIN } from '../../runtime/plain-text.ts';

/** A year and a day. A longer overlap defeats the purpose of a rotation. */
const OVERLAP_SECONDS_MAX = 366 * 86_400;

/** What the key is for, so that its owner can tell it from the others. */
const name = z.string().refine(isPlainText, NOT_PLAIN).trim().max(KEY_NAME_MAX);

/** Until the end of 2199, the last day that a date can name. */
const EXPIRES_AT_MAX = Date.UTC(2200, 0, 1) / 1000;

/** Seconds since 1970, as in all other fields. */
const expiresAt = z.int().min(0).max(EXPIRES_AT_MAX);

const allowedIps = z
  .array(z.string().max(64).refine(isAddressOrRange, 'must be an address or a range such as 10.0.0.0/8'))
  .max(RANGES_MAX);

export const NEW_KEY = z.strictObject({
  name: name.optional(),
  expiresAt: expiresAt.optional(),
  allowedIps: allowedIps.optional(),
  headerOnly: z.boolean().optional(),
});

/** What can be changed later; `null` lifts a restriction. */
export const KEY_CHANGE = z.strictObject({
  name: name.optional(),
  expiresAt: expiresAt.nullable().optional(),
  allowedIps: allowedIps.min(1).nullable().optional(),
  headerOnly: z.boolean().optional(),
});

export const ROTATION = z.strictObject({
  /** Defaults to a day: time to replace the key in every program that uses it. */
  overlapSeconds: z.int().min(0).max(OVERLAP_SECONDS_MAX).default(86_400),
});
