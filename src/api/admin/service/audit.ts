import { type AuditEntry, isEntryId } from '../../../ledger/audit/entry.ts';
import { isPlainText } from '../../../runtime/plain-text.ts';
import { refuse } from '../../errors/errors.ts';
import type { AdminEndpoint } from '../../model/endpoint.ts';
import { single, singleUnlessEmpty } from '../../params/parameters.ts';
import { adminEndpoint } from '../admin-endpoint.ts';
import { limitOf, pageOf } from './paging.ts';

const ENTRIES_DEFAULT = 50;
const ENTRIES_MAX = 1_000;

/** GET /admin/audit: administrative changes, newest first. `next` continues where the page ends. */
export const adminAudit: AdminEndpoint = adminEndpoint('/admin/audit', {
  async GET({ query, ledger }) {
    const limit = limitOf(query, ENTRIES_DEFAULT, ENTRIES_MAX);
    const search = single(query, 'search');
    const before = singleUnlessEmpty(query, 'before');
    if (before !== undefined && !isEntryId(before)) {
      const expected = 'the id of an entry';
      throw refuse('invalid_parameter', { name: 'before', received: before.slice(0, 64), expected });
    }
    const isSearchable = search === undefined || isPlainText(search);
    const found = isSearchable ? await ledger.audit.list({ limit: limit + 1, search, before }) : [];
    const { page, next } = pageOf(found, limit, '/admin/audit', ({ id }) => ({
      before: id,
      ...(search !== undefined && { search }),
    }));
    return { success: true, entries: page.map(record), next };
  },
});

function record({ id, at, actor, via, address, action, target, details }: AuditEntry) {
  return {
    id,
    at: new Date(at).toISOString(),
    actor,
    via,
    address: address ?? null,
    action,
    target,
    details,
  };
}
