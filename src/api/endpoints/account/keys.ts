import { secureRandom } from '../../../gate/key.ts';
import { type IssuedKey, issueKey, KeyRefused, rotateKey } from '../../../gate/onboarding.ts';
import { type ApiKey, keyStatus } from '../../../ledger/accounts/accounts.ts';
import type { KeyOwner, KeyRefusal } from '../../../ledger/accounts/key-owner.ts';
import { NEW_KEY, ROTATION } from '../../admin/bodies.ts';
import { type Refusal, refuse } from '../../errors/errors.ts';
import type { OwnerCall, OwnerEndpoint } from '../../model/endpoint.ts';

/** GET and POST /account/keys: the keys of the caller's account, and one more. */
export const keys: OwnerEndpoint = {
  kind: 'owner',
  name: 'keys',
  path: '/account/keys',
  actions: {
    async GET({ customer, ledger, now }) {
      const all = await ledger.accounts.keys(customer.account.id);
      return { success: true, keys: all.map((key) => keyRecord(key, now)) };
    },
    /** What a key may not do, a key that is made with it may not do either. */
    async POST(call) {
      const { customer, key: own, ledger, now } = call;
      const { expiresAt, allowedIps, headerOnly } = await call.body(NEW_KEY);
      const ips = own.allowedIps ?? allowedIps;
      const ends = [own.expiresAt, expiresAt === undefined ? null : expiresAt * 1000].filter(
        (at) => at !== null,
      );
      if (ends.some((at) => at <= now)) throw refuse('invalid_body', { problems: ['expiresAt is past'] });
      const options = {
        headerOnly: own.headerOnly || headerOnly === true,
        ...(ips && { allowedIps: ips }),
        ...(ends.length > 0 && { expiresAt: Math.min(...ends) }),
      };
      const issuing = issueKey(ledger, customer.account.id, options, now, secureRandom, ownerOf(call));
      return issuedKey(await orRefuse(issuing), now);
    },
  },
};

/** DELETE /account/keys/ID: revokes a key; at least one active key stays. */
export const oneKey: OwnerEndpoint = {
  kind: 'owner',
  name: 'keys',
  path: '/account/keys/:id',
  actions: {
    async DELETE(call) {
      const { id, customer, ledger } = call;
      const refusal = await ledger.accounts.revokeKeyOf(customer.account.id, id, ownerOf(call));
      if (refusal) throw keyRefusal(refusal, id);
      return { success: true, id, revoked: true };
    },
  },
};

/** POST /account/keys/ID/rotate: a key with the same rules; the old one works until the overlap is over. */
export const keyRotation: OwnerEndpoint = {
  kind: 'owner',
  name: 'keys',
  path: '/account/keys/:id/rotate',
  actions: {
    async POST(call) {
      const { id, customer, key: own, ledger, now } = call;
      const { overlapSeconds } = await call.body(ROTATION);
      const old = await ledger.accounts.findKey(id);
      if (old?.accountId !== customer.account.id) throw refuse('not_there', { what: 'key', id });
      if (own.id !== old.id && !hasNoRules(own)) throw refuse('key_not_allowed', { why: 'rules' });
      const rotating = rotateKey(ledger, old, overlapSeconds * 1000, now, secureRandom, ownerOf(call));
      return issuedKey(await orRefuse(rotating), now);
    },
  },
};

/** One for each program of a large customer. */
const KEYS_MAX = 100;

function ownerOf({ key, now }: OwnerCall): KeyOwner {
  return { keyId: key.id, keysMax: KEYS_MAX, now };
}

/** Maps what the ledger refused to an API error. */
export async function orRefuse(issuing: Promise<IssuedKey>): Promise<IssuedKey> {
  try {
    return await issuing;
  } catch (error) {
    throw error instanceof KeyRefused ? keyRefusal(error.refusal, '') : error;
  }
}

function keyRefusal(refusal: KeyRefusal, id: string): Refusal {
  switch (refusal) {
    case 'full': {
      const why = `an account may have ${KEYS_MAX} keys, those made in the last 24 hours included; revoke some, or wait`;
      return refuse('conflict', { why });
    }
    case 'last':
      return refuse('conflict', { why: 'it is the last active key of the account; create another first' });
    case 'inactive':
      return refuse('conflict', { why: 'the key is revoked or has expired' });
    case 'unknown':
      return refuse('not_there', { what: 'key', id });
    default:
      return refuse(refusal, {});
  }
}

/** A key as it is told: never its hash. Times are seconds. */
export function keyRecord(key: ApiKey, now: number) {
  const status = keyStatus(key, now);
  return {
    id: key.id,
    status,
    createdAt: Math.floor(key.createdAt / 1000),
    expiresAt: key.expiresAt === null ? null : Math.floor(key.expiresAt / 1000),
    allowedIps: key.allowedIps,
    headerOnly: key.headerOnly,
  };
}

/** The one answer that holds a key's text. */
export function issuedKey({ text, key }: IssuedKey, now: number) {
  return { success: true, apiKey: text, key: keyRecord(key, now) };
}

function hasNoRules({ allowedIps, headerOnly, expiresAt }: ApiKey): boolean {
  return allowedIps === null && !headerOnly && expiresAt === null;
}
