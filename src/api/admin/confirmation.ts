import { refuse } from '../errors/errors.ts';
import type { Query } from '../model/query.ts';
import { single } from '../params/parameters.ts';

/** A deletion cannot be undone: `confirm` must repeat what is deleted. */
export function requireConfirmation(query: Query, id: string, dependents: string): void {
  const confirmed = single(query, 'confirm');
  if (confirmed === undefined) throw refuse('missing_parameter', { name: 'confirm', example: id });
  if (confirmed === id) return;
  throw refuse('conflict', { why: `this deletes ${id} with ${dependents} for good; add confirm=${id}` });
}
