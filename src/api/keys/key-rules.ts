import type { z } from 'zod';
import type { KeyRules } from '../../ledger/accounts/key-store.ts';
import { refuse } from '../errors/errors.ts';
import type { KEY_CHANGE } from './key-bodies.ts';

/** The change of a key as the ledger takes it. Fields that were not sent stay as they are. */
export function rulesOf(change: z.infer<typeof KEY_CHANGE>, now: number): Partial<KeyRules> {
  const { name, expiresAt, allowedIps, headerOnly } = change;
  const ends = typeof expiresAt === 'number' ? expiresAt * 1000 : expiresAt;
  if (typeof ends === 'number' && ends <= now)
    throw refuse('invalid_body', { problems: ['expiresAt is in the past; revoke the key instead'] });
  return {
    ...(name !== undefined && { name }),
    ...(ends !== undefined && { expiresAt: ends }),
    ...(allowedIps !== undefined && { allowedIps }),
    ...(headerOnly !== undefined && { headerOnly }),
  };
}
