import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import { AlreadyExists, type DefinitionOptions } from '../../ledger/already-exists.ts';
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

/** Writes a definition. With `If-None-Match: *`, it must be new. */
export async function define<T>(
  { request, id }: { request: IncomingRequest; id: string },
  what: 'plan' | 'formula' | 'symbol',
  write: (options: DefinitionOptions) => Promise<T>,
): Promise<T> {
  try {
    return await write({ onlyNew: request.headers.get('if-none-match')?.trim() === '*' });
  } catch (error) {
    throw error instanceof AlreadyExists ? refuse('already_exists', { what, id }) : error;
  }
}
