import type { Query } from './query.ts';

/** Never repeated in an answer, or replaced. */
const LEFT_OUT: ReadonlySet<string> = new Set(['apiKey', 'cursor']);

/** A `Link` header to the next page: the same question from there on, relative to this one, without the key. */
export function nextLink(query: Query, cursor: string): string {
  const next = new URLSearchParams();
  for (const [name, values] of query) {
    if (!LEFT_OUT.has(name)) for (const value of values) next.append(name, value);
  }
  next.append('cursor', cursor);
  return `<?${next}>; rel="next"`;
}
