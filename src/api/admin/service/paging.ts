import { refuse } from '../../errors/errors.ts';
import type { QueryParams } from '../../model/query.ts';
import { singleUnlessEmpty } from '../../params/parameters.ts';

/** The parameter `limit`: how many entries a page has. */
export function limitOf(query: QueryParams, byDefault: number, max: number): number {
  const text = singleUnlessEmpty(query, 'limit');
  if (text === undefined) return byDefault;
  const limit = Number(text);
  if (/^\d{1,6}$/.test(text) && limit >= 1 && limit <= max) return limit;
  const expected = `a whole number from 1 to ${max}`;
  throw refuse('invalid_parameter', { name: 'limit', received: text.slice(0, 64), expected });
}

/**
 * One page of a list, and the path of the next one; null on the last. `found` has one entry more than a page if there is a
 * next one, and `query` is what the next page is requested with.
 */
export function pageOf<T>(
  found: readonly T[],
  limit: number,
  path: string,
  query: (last: T) => Readonly<Record<string, string>>,
): { page: T[]; next: string | null } {
  const page = found.slice(0, limit);
  if (found.length <= limit) return { page, next: null };
  return { page, next: `${path}?${new URLSearchParams({ limit: String(limit), ...query(page.at(-1)!) })}` };
}
