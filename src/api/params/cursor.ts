import { redactKeys } from '../../gate/key.ts';
import type { Day } from '../../market/day.ts';
import { refuse } from '../errors/errors.ts';
import type { QueryParams } from '../model/query.ts';
import { single, singleUnlessEmpty } from './parameters.ts';

/** Where a page starts: a date, and the index of a symbol in the request. */
export interface Cursor {
  /** For intervals shorter than a day, a minute: minutes since 1970. */
  day: Day;
  symbolIndex: number;
}

/** A cursor is accepted only with the request it was made for: with another, rows would silently be missing. */
export function printCursor({ day, symbolIndex }: Cursor, scope: string): string {
  return Buffer.from(`${day} ${symbolIndex} ${sign(scope)}`).toString('base64url');
}

/** Parameters that the values of rows depend on, besides those that an endpoint names itself. */
const VALUE_PARAMETERS = ['quote', 'unit', 'asOf'];

/** Identifies the request that a cursor belongs to: `parts`, and what the values of its rows depend on. */
export function cursorScopeOf(query: QueryParams, parts: readonly unknown[]): string {
  const values = VALUE_PARAMETERS.flatMap((name) => {
    const value = singleUnlessEmpty(query, name);
    return value === undefined ? [] : [`${name}=${value.toLowerCase()}`];
  });
  return [...parts, ...values].join(' ');
}

/** Reads `cursor`; undefined if it is absent. An empty one is refused: a client that pages would start again, at a cost. */
export function readCursor(query: QueryParams, scope: string): Cursor | undefined {
  const text = single(query, 'cursor');
  if (text === undefined) return undefined;
  const match = /^(-?\d{1,9}) (\d{1,4}) (\w+)$/.exec(Buffer.from(text, 'base64url').toString());
  if (!match || match[3] !== sign(scope)) throw refuse('invalid_cursor', {});
  return { day: Number(match[1]), symbolIndex: Number(match[2]) };
}

/** Parameters that a link must not repeat, or replaces. */
const LEFT_OUT: ReadonlySet<string> = new Set(['apiKey', 'cursor']);

/** A `Link` header to the next page: the same request from there on, relative to this one, without the key. */
export function nextLink(query: QueryParams, cursor: string): string {
  const next = new URLSearchParams();
  for (const { name, values } of query) {
    if (!LEFT_OUT.has(name)) for (const value of values) next.append(name, value);
  }
  next.append('cursor', cursor);
  return `<?${redactKeys(next.toString())}>; rel="next"`;
}

function sign(scope: string): string {
  return Bun.hash(scope).toString(36);
}
