import { KEY_CHANGE } from '../keys/key-bodies.ts';
import type { Operation } from './operation.ts';

/** Operations of the operator's tools: the audit log and what the operator page offers besides accounts and feeds. */
export const OPERATOR_TOOLS: readonly Operation[] = [
  {
    path: '/admin/audit',
    method: 'GET',
    tag: 'Operator',
    summary: 'Administrative changes, newest first: who changed what, when and how',
    parameters: ['search', 'limit', 'before'],
    answer: 'AuditEntries',
    errors: ['repeated_parameter', 'invalid_parameter'],
  },
  {
    path: '/admin/keys/{id}',
    method: 'PATCH',
    tag: 'Operator',
    summary: 'Change the name, expiry, addresses or header rule of a key',
    parameters: ['id'],
    body: KEY_CHANGE,
    answer: 'ChangedKey',
    errors: ['invalid_body', 'not_there', 'conflict'],
  },
];
