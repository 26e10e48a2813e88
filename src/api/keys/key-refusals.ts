import { type IssuedKey, KeyRefused } from '../../gate/onboarding.ts';
import type { KeyRefusal } from '../../ledger/accounts/key-owner.ts';
import { type Refusal, refuse } from '../errors/errors.ts';

/** Keys per account: enough for one per program of a large customer. */
export const KEYS_MAX = 100;

/** Awaits a new key. If the ledger refuses to issue it, throws the API error for that. */
export async function issuedOrRefused(issuing: Promise<IssuedKey>, accountId = ''): Promise<IssuedKey> {
  try {
    return await issuing;
  } catch (error) {
    throw error instanceof KeyRefused ? keyRefusal(error.refusal, accountId) : error;
  }
}

/** The API error for a key operation that the ledger refused. */
export function keyRefusal(refusal: KeyRefusal, id: string): Refusal {
  switch (refusal) {
    case 'full': {
      const why = `an account may have ${KEYS_MAX} keys, including those created in the last 24 hours; revoke some, or wait`;
      return refuse('conflict', { why });
    }
    case 'changed': {
      const why = 'the restrictions of the key that sent the request have changed meanwhile; send it again';
      return refuse('conflict', { why });
    }
    case 'last':
      return refuse('conflict', { why: 'it is the last active key of the account; create another first' });
    case 'inactive':
      return refuse('conflict', { why: 'the key is revoked or has expired' });
    case 'no_account':
      return refuse('not_there', { what: 'account', id: id.slice(0, 64) });
    case 'unknown':
      return refuse('not_there', { what: 'key', id });
    default:
      return refuse(refusal, {});
  }
}
