import { secureRandom } from '../../gate/key.ts';
import { type IssuedKey, issueKey, rotateKey } from '../../gate/onboarding.ts';
import { type ApiKey, isActive } from '../../ledger/accounts.ts';
import { NEW_KEY, ROTATION } from '../bodies.ts';
import type { OwnerEndpoint } from '../endpoint.ts';
import { refuse } from '../errors.ts';

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
    async POST({ customer, key: own, ledger, now, body }) {
      const { expiresAt, allowedIps, headerOnly } = await body(NEW_KEY);
      requireRoom(await ledger.accounts.keys(customer.account.id), now);
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
      return issuedKey(await issueKey(ledger, customer.account.id, options, now, secureRandom), now);
    },
  },
};

/** DELETE /account/keys/ID: revokes a key; at least one active key stays. */
export const oneKey: OwnerEndpoint = {
  kind: 'owner',
  name: 'keys',
  path: '/account/keys/:id',
  actions: {
    async DELETE({ id, customer, ledger, now }) {
      const outcome = await ledger.accounts.revokeKeyOf(customer.account.id, id, now);
      if (outcome === 'unknown') throw refuse('not_there', { what: 'key', id });
      if (outcome === 'last') {
        const why = 'it is the last active key of the account; create another first';
        throw refuse('conflict', { why });
      }
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
    async POST({ id, customer, key: own, ledger, now, body }) {
      const { overlapSeconds } = await body(ROTATION);
      const all = await ledger.accounts.keys(customer.account.id);
      const old = all.find((key) => key.id === id);
      if (!old) throw refuse('not_there', { what: 'key', id });
      if (own.id !== old.id && !hasNoRules(own)) throw refuse('key_not_allowed', { why: 'rules' });
      if (!isActive(old, now)) throw refuse('conflict', { why: 'the key is revoked or has expired' });
      requireRoom(all, now);
      return issuedKey(await rotateKey(ledger, old, overlapSeconds * 1000, now, secureRandom), now);
    },
  },
};

/** One for each program of a large customer. Those of the last day count when they are revoked too: each is kept for good. */
const KEYS_MAX = 100;
const DAY_MS = 86_400_000;

function requireRoom(keys: readonly ApiKey[], now: number): void {
  const counted = keys.filter((key) => isActive(key, now) || key.createdAt > now - DAY_MS);
  if (counted.length < KEYS_MAX) return;
  const why = `an account may have ${KEYS_MAX} keys, those made in the last 24 hours included; revoke some, or wait`;
  throw refuse('conflict', { why });
}

/** A key as it is told: never its hash. Times are seconds. */
export function keyRecord(key: ApiKey, now: number) {
  const status = key.revokedAt !== null ? 'revoked' : isActive(key, now) ? 'active' : 'expired';
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
