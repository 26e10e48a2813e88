import { refuse } from '../errors/errors.ts';
import type { QueryParams } from '../model/query.ts';
import { single } from '../params/parameters.ts';

/** A deletion cannot be undone, so `confirm` must repeat the id. `dependents` names what is deleted with it. */
export function requireConfirmation(query: QueryParams, id: string, dependents: string): void {
  const confirmed = single(query, 'confirm');
  if (confirmed === undefined) throw refuse('missing_parameter', { name: 'confirm', example: id });
  if (confirmed === id) return;
  const why = `deleting ${id} with ${dependents} cannot be undone; to confirm it, add confirm=${id}`;
  throw refuse('conflict', { why });
}
