import { issueKey, rotateKey } from '../../gate/onboarding.ts';
import { refuse } from '../errors/errors.ts';
import { KEY_CHANGE, NEW_KEY, ROTATION } from '../keys/key-bodies.ts';
import { issuedKey, keyRecord } from '../keys/key-records.ts';
import { issuedOrRefused, keyRefusal } from '../keys/key-refusals.ts';
import { rulesOf } from '../keys/key-rules.ts';
import type { AdminEndpoint } from '../model/endpoint.ts';
import { requireAccount } from './accounts.ts';
import { adminEndpoint } from './admin-endpoint.ts';

/** Creates, changes, revokes and rotates keys of any account. */
export const adminKeys: readonly AdminEndpoint[] = [
  adminEndpoint('/admin/accounts/:id/keys', {
    async POST({ id, ledger, now, body }) {
      const { expiresAt, ...rules } = await body(NEW_KEY);
      await requireAccount(ledger, id);
      if (expiresAt !== undefined && expiresAt * 1000 <= now)
        throw refuse('invalid_body', { problems: ['expiresAt is in the past'] });
      const options = {
        ...(rules.name !== undefined && { name: rules.name }),
        ...(rules.headerOnly !== undefined && { headerOnly: rules.headerOnly }),
        ...(rules.allowedIps && { allowedIps: rules.allowedIps }),
        ...(expiresAt !== undefined && { expiresAt: expiresAt * 1000 }),
      };
      const issuing = issueKey(ledger, id, options, now);
      return issuedKey(await issuedOrRefused(issuing, id), now);
    },
  }),
  adminEndpoint('/admin/keys/:id', {
    async PATCH({ id, ledger, now, body }) {
      const key = await ledger.keys.update(id, rulesOf(await body(KEY_CHANGE), now));
      if (typeof key === 'string') throw keyRefusal(key, id);
      return { success: true, key: keyRecord(key, now) };
    },
    async DELETE({ id, ledger, now }) {
      if (!(await ledger.keys.revoke(id, now))) throw refuse('not_there', { what: 'key', id });
      return { success: true, id, revoked: true };
    },
  }),
  adminEndpoint('/admin/keys/:id/rotate', {
    async POST({ id, ledger, now, body }) {
      const { overlapSeconds } = await body(ROTATION);
      const old = await ledger.keys.find(id);
      if (!old) throw refuse('not_there', { what: 'key', id });
      const rotating = rotateKey(ledger, old, overlapSeconds * 1000, now);
      return issuedKey(await issuedOrRefused(rotating), now);
    },
  }),
];
