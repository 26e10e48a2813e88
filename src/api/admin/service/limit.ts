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
