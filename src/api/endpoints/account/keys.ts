import { commonRanges } from '../../../gate/addresses.ts';
import { issueKey, rotateKey } from '../../../gate/onboarding.ts';
import type { KeyOwner } from '../../../ledger/accounts/key-owner.ts';
import type { ApiKey } from '../../../ledger/accounts/keys.ts';
import { refuse } from '../../errors/errors.ts';
import { KEY_CHANGE, NEW_KEY, ROTATION } from '../../keys/key-bodies.ts';
import { issuedKey, keyRecord, listedKeys } from '../../keys/key-records.ts';
import { issuedOrRefused, KEYS_MAX, keyRefusal } from '../../keys/key-refusals.ts';
import { rulesOf } from '../../keys/key-rules.ts';
import type { OwnerEndpoint, OwnerRequest } from '../../model/endpoint.ts';

/** /account/keys: lists the keys of the caller's account, and creates one. */
export const keys: OwnerEndpoint = {
  kind: 'owner',
  name: 'keys',
  path: '/account/keys',
  actions: {
    async GET({ customer: { id }, ledger, now }) {
      const lastUses = await ledger.keyUses.lastUses(id);
      return { success: true, keys: listedKeys(await ledger.keys.of(id), lastUses, now) };
    },
    /** The new key inherits the restrictions of the key that creates it; it can only narrow them. */
    async POST(call) {
      const { customer, key: own, ledger, now } = call;
      const { name = '', expiresAt, allowedIps, headerOnly } = await call.body(NEW_KEY);
      const ips = own.allowedIps ? addressesWithin(own.allowedIps, allowedIps) : allowedIps;
      const ends = [own.expiresAt, expiresAt === undefined ? null : expiresAt * 1000].filter(
        (at) => at !== null,
      );
      if (ends.some((at) => at <= now))
        throw refuse('invalid_body', { problems: ['expiresAt is in the past'] });
      const options = {
        name,
        headerOnly: own.headerOnly || headerOnly === true,
        ...(ips && { allowedIps: ips }),
        ...(ends.length > 0 && { expiresAt: Math.min(...ends) }),
      };
      const issuing = issueKey(ledger, customer.id, options, now, ownerOf(call));
      return issuedKey(await issuedOrRefused(issuing), now);
    },
  },
};

/** PATCH /account/keys/ID: changes its name or rules. DELETE: revokes it, unless it is the last active one. */
export const oneKey: OwnerEndpoint = {
  kind: 'owner',
  name: 'keys',
  path: '/account/keys/:id',
  actions: {
    /** A restricted key may rename keys, but not lift restrictions. */
    async PATCH(call) {
      const { id, customer, key: own, ledger, now } = call;
      const { name, ...rules } = rulesOf(await call.body(KEY_CHANGE), now);
      const known = await ledger.keys.find(id);
      if (known?.accountId !== customer.id) throw refuse('not_there', { what: 'key', id });
      if (Object.keys(rules).length > 0 && !isUnrestricted(own))
        throw refuse('key_not_allowed', { why: 'rules' });
      const change = { ...rules, ...(name !== undefined && { name }) };
      const key = await ledger.keys.update(id, change, ownerOf(call));
      if (typeof key === 'string') throw keyRefusal(key, id);
      return { success: true, key: keyRecord(key, now) };
    },
    async DELETE(call) {
      const { id, customer, ledger } = call;
      const refusal = await ledger.keys.revokeOf(customer.id, id, ownerOf(call));
      if (refusal) throw keyRefusal(refusal, id);
      return { success: true, id, revoked: true };
    },
  },
};

/** POST /account/keys/ID/rotate: issues a key with the same restrictions. The old one works until the overlap ends. */
export const keyRotation: OwnerEndpoint = {
  kind: 'owner',
  name: 'keys',
  path: '/account/keys/:id/rotate',
  actions: {
    async POST(call) {
      const { id, customer, key: own, ledger, now } = call;
      const { overlapSeconds } = await call.body(ROTATION);
      const old = await ledger.keys.find(id);
      if (old?.accountId !== customer.id) throw refuse('not_there', { what: 'key', id });
      if (own.id !== old.id && !isUnrestricted(own)) throw refuse('key_not_allowed', { why: 'rules' });
      const rotating = rotateKey(ledger, old, overlapSeconds * 1000, now, ownerOf(call));
      return issuedKey(await issuedOrRefused(rotating), now);
    },
  },
};

/** The requested addresses, as far as the creating key may be used from them. */
function addressesWithin(own: readonly string[], wanted: readonly string[] = []): readonly string[] {
  if (wanted.length === 0) return own;
  const allowed = wanted.flatMap((range) => {
    const common = commonRanges(range, own);
    if (common.length > 0) return common;
    const problem = `allowedIps: this key may not be used from ${range}, so it cannot allow that`;
    throw refuse('invalid_body', { problems: [problem] });
  });
  return [...new Set(allowed)];
}

function ownerOf({ key, now }: OwnerRequest): KeyOwner {
  return { keyId: key.id, restrictions: key, keysMax: KEYS_MAX, now };
}

function isUnrestricted({ allowedIps, headerOnly, expiresAt }: Omit<ApiKey, 'hash'>): boolean {
  return allowedIps === null && !headerOnly && expiresAt === null;
}
